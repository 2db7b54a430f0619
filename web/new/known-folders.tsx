import { useState } from 'preact/hooks'
import type { Live } from '../model/account/live.ts'
import { askMachine } from '../model/account/machine-call.ts'
import { below, shortPath } from '../model/paths.ts'
import { Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { start as words } from '../words/start.ts'
import type { KnownFolder } from './choices.ts'

/** Branch and changes of a folder in a repository. */
export function FolderState({ folder: { branch, dirty = 0 } }: { folder: KnownFolder }) {
  const parts = [branch !== undefined && words.branch(branch), dirty > 0 && words.changes(dirty)].filter(part => part !== false)
  if (parts.length === 0) return null
  return (
    <small class={dirty > 0 ? 'folder-dirty' : ''} dir="auto">
      {parts.join(' · ')}
    </small>
  )
}

const mostShown = 6
const settleMs = 150

/** Folders whose path starts with the typed text. */
export function Completions(props: { link: Live; machine: string; typed: string; home: string | undefined; onChoose(path: string): void }) {
  const { link, machine, typed, home } = props
  const isTyping = typed !== ''
  const { last } = useAnswer(
    isTyping && (() => askMachine(link, machine, 'complete-path', { path: typed })),
    [link, machine, typed],
    settleMs
  )
  // A daemon that does not complete paths: people type them in full.
  const folders = isTyping && last?.type === 'answered' ? last.result.folders : []
  const shown = folders.filter(folder => folder !== typed).slice(0, mostShown)
  if (shown.length === 0) return null
  return (
    <ul class="card tight completions" aria-label={words.completions}>
      {shown.map(folder => (
        <li key={folder}>
          <button class="irow" type="button" onClick={() => props.onChoose(`${folder}${folder.includes('\\') ? '\\' : '/'}`)}>
            <Icon name="folder" />
            <span>
              <code dir="ltr">{shortPath(folder, home)}</code>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Creates a folder inside the one being browsed, and goes there. */
export function NewFolder(props: { link: Live; machine: string; parent: string; onMade(path: string): void }) {
  const { link, machine, parent } = props
  const [name, setName] = useState<string>()
  const [says, setSays] = useState<string>()
  const { isBusy, run } = useBusy()
  if (name === undefined) {
    return (
      <button class="irow" type="button" onClick={() => setName('')}>
        <Icon name="plus" />
        <span>
          <b>{words.newFolder}</b>
        </span>
      </button>
    )
  }
  const make = () =>
    run(async () => {
      setSays(undefined)
      const answer = await askMachine(link, machine, 'make-folder', { path: below(parent, name.trim()) })
      if (answer.type === 'failed') return setSays(answer.says)
      setName(undefined)
      props.onMade(answer.result.path)
    })
  return (
    <form
      class="form tight-form making"
      onSubmit={event => {
        event.preventDefault()
        event.stopPropagation()
        if (name.trim() !== '') void make()
      }}
    >
      <Field label={words.folderName} value={name} onInput={setName} hasFocus maxLength={255} />
      {says !== undefined && <Problem title={words.notMade} text={says} />}
      <Button look="quiet" type="submit" isWide isOff={name.trim() === ''} busy={isBusy && words.makeFolder}>
        {words.makeFolder}
      </Button>
    </form>
  )
}
