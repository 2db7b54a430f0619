import { useRef, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { compose as words } from '../words/compose.ts'
import { Menu, type MenuItem } from './menu.tsx'

/** What can be added to a message besides its words. */
export function ComposerMenu(props: {
  hasCommands: boolean
  hasFiles: boolean
  onFiles(files: File[]): void
  onCommand(): void
  onMention(): void
}) {
  const [isOpen, setOpen] = useState(false)
  const photo = useRef<HTMLInputElement>(null)
  const file = useRef<HTMLInputElement>(null)
  const take = ({ currentTarget: input }: { currentTarget: HTMLInputElement }) => {
    props.onFiles([...(input.files ?? [])])
    // The same file may be chosen again.
    input.value = ''
  }
  const items: MenuItem[] = [
    { icon: 'image', name: words.photo, onPress: () => photo.current?.click() },
    { icon: 'paperclip', name: words.file, onPress: () => file.current?.click() },
    ...(props.hasCommands ? [{ icon: 'square-terminal' as const, name: words.command, onPress: props.onCommand }] : []),
    ...(props.hasFiles ? [{ icon: 'file-text' as const, name: words.mention, onPress: props.onMention }] : [])
  ]
  return (
    <div class="menu-w up">
      <button class="ib" type="button" aria-label={words.add} aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="plus" />
      </button>
      <input ref={photo} type="file" accept="image/*" multiple hidden onChange={take} />
      <input ref={file} type="file" multiple hidden onChange={take} />
      {isOpen && <Menu label={words.add} items={items} onClose={() => setOpen(false)} />}
    </div>
  )
}
