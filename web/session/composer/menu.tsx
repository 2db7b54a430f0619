import { useRef, useState } from 'preact/hooks'
import { Icon } from '../../ui/icons/icon.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.ts'
import { compose as words } from '../../words/compose.ts'

/** Things to add to a message besides text. */
export function ComposerMenu(props: {
  hasCommands: boolean
  hasFiles: boolean
  onFiles(files: File[]): void
  onText(text: string): void
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
  const paste = async () => {
    try {
      const { text, files } = await fromClipboard()
      if (text !== '') props.onText(text)
      if (files.length > 0) props.onFiles(files)
      if (text === '' && files.length === 0) toast(words.nothingToPaste)
    } catch {
      toast(words.notPasted)
    }
  }
  const items: MenuItem[] = [
    { icon: 'image', name: words.photo, onPress: () => photo.current?.click() },
    { icon: 'paperclip', name: words.file, onPress: () => file.current?.click() },
    ...(mayRead() ? [{ icon: 'clipboard-paste' as const, name: words.paste, onPress: () => void paste() }] : []),
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

function mayRead(): boolean {
  return typeof navigator.clipboard?.read === 'function'
}

/** The picture of each clipboard item, otherwise its text. Browsers ask the person first, and only after a tap. */
async function fromClipboard(): Promise<{ text: string; files: File[] }> {
  const files: File[] = []
  const texts: string[] = []
  for (const item of await navigator.clipboard.read()) {
    const picture = item.types.find(type => type.startsWith('image/'))
    if (picture !== undefined) files.push(new File([await item.getType(picture)], `image.${picture.slice(6)}`, { type: picture }))
    else if (item.types.includes('text/plain')) texts.push(await (await item.getType('text/plain')).text())
  }
  return { text: texts.join('\n'), files }
}
