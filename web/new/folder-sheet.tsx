import { useState } from 'preact/hooks'
import type { Live } from '../model/account/live.ts'
import type { Trouble } from '../model/account/machine-call.ts'
import { listFolders } from '../model/machine-choices.ts'
import { below, parentFolder, shortPath } from '../model/paths.ts'
import { folderName } from '../model/sessions.ts'
import { useAnswer } from '../ui/behavior/answer.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { start as words } from '../words/start.ts'
import type { KnownFolder } from './choices.ts'
import { Completions, FolderState, NewFolder } from './known-folders.tsx'

type Listing = { path: string; folders: string[] } | Trouble | undefined

/** Recent folders of a machine, a browser for all others, and a field for a path. */
export function FolderSheet(props: {
  link: Live
  machine: string
  recent: readonly KnownFolder[]
  home: string | undefined
  from: string | undefined
  /** The daemon can create folders. */
  canMake: boolean
  onChoose(folder: string): void
  onClose(): void
}) {
  const [wantsAll, setWantsAll] = useState(false)
  const isBrowsing = wantsAll || props.recent.length === 0
  const [typed, setTyped] = useState('')
  const choose = (folder: string) => {
    props.onChoose(folder)
    closeLayer()
  }
  return (
    <Sheet title={words.chooseFolder} onClose={props.onClose}>
      {isBrowsing ? (
        <Browser {...props} start={props.from ?? props.home ?? '~'} onMove={() => setWantsAll(true)} onUse={choose} />
      ) : (
        <section class="grp">
          <h2>{words.recent}</h2>
          <div class="card tight">
            {props.recent.map(folder => (
              <button key={folder.path} class="irow" type="button" onClick={() => choose(folder.path)}>
                <Icon name="folder" />
                <span>
                  <b dir="auto">{folderName(folder.path)}</b>
                  <small>
                    <bdi>{shortPath(folder.path, props.home)}</bdi>
                  </small>
                  <FolderState folder={folder} />
                </span>
                {folder.path === props.from && <Icon name="check" />}
              </button>
            ))}
            <button class="irow" type="button" onClick={() => setWantsAll(true)}>
              <Icon name="folder-open" />
              <span>
                <b>{words.browse}</b>
              </span>
              <Icon name="chevron-right" class="chev" />
            </button>
          </div>
        </section>
      )}
      <form
        class="form tight-form"
        onSubmit={event => {
          event.preventDefault()
          event.stopPropagation()
          if (typed.trim() !== '') choose(typed.trim())
        }}
      >
        <Field label={words.path} hint={words.pathHint} value={typed} onInput={setTyped} isCode maxLength={4096} />
        <Completions link={props.link} machine={props.machine} typed={typed.trim()} home={props.home} onChoose={setTyped} />
        {typed.trim() !== '' && (
          <Button look="primary" type="submit" isLarge isWide>
            {words.useTyped}
          </Button>
        )}
      </form>
    </Sheet>
  )
}

function Browser(props: {
  link: Live
  machine: string
  start: string
  home: string | undefined
  canMake: boolean
  onMove(): void
  onUse(folder: string): void
}) {
  const { link, machine } = props
  const [path, setPath] = useState(props.start)
  const { value: listing } = useAnswer(() => listFolders(link, machine, path), [link, machine, path])
  const here = listing && 'folders' in listing ? listing.path : path
  const above = parentFolder(here)
  // Someone who is browsing stays there, even if recent folders become known.
  const moveTo = (next: string) => {
    props.onMove()
    setPath(next)
  }
  return (
    <section class="grp browser">
      <code class="path-t">{shortPath(here, props.home)}</code>
      <div class="card tight">
        {above !== undefined && (
          <button class="irow" type="button" onClick={() => moveTo(above)}>
            <Icon name="arrow-up" />
            <span>
              <b>{words.up}</b>
            </span>
          </button>
        )}
        <Listed listing={listing} onOpen={name => moveTo(below(here, name))} />
        {props.canMake && listing && 'folders' in listing && <NewFolder link={link} machine={machine} parent={here} onMade={moveTo} />}
      </div>
      <Button look="primary" isLarge isWide isOff={listing === undefined || !('folders' in listing)} onClick={() => props.onUse(here)}>
        {words.use}
      </Button>
    </section>
  )
}

function Listed({ listing, onOpen }: { listing: Listing; onOpen(name: string): void }) {
  if (listing === undefined) {
    return (
      <p class="irow" role="status">
        {words.reading}
      </p>
    )
  }
  if (!('folders' in listing)) {
    return (
      <p class="irow" role="alert">
        <Icon name="circle-alert" />
        <span>
          <b>{words.notRead}</b>
          <small dir="auto">{listing.says}</small>
        </span>
      </p>
    )
  }
  if (listing.folders.length === 0) return <p class="irow">{words.noFolders}</p>
  return (
    <>
      {listing.folders.map(name => (
        <button key={name} class="irow" type="button" onClick={() => onOpen(name)}>
          <Icon name="folder" />
          <span>
            <b dir="auto">{name}</b>
          </span>
          <Icon name="chevron-right" class="chev" />
        </button>
      ))}
    </>
  )
}
