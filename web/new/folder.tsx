import { TypedCommand } from '../machines/daemon-maintenance.tsx'
import { useProgram } from '../machines/link-command.tsx'
import { shortPath } from '../model/paths.ts'
import { folderName } from '../model/sessions.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { start as words } from '../words/start.ts'
import type { KnownFolder } from './choices.ts'
import { FolderState } from './known-folders.tsx'

/** The folder of the session. */
export function FolderRow({ folder, home, onOpen }: { folder: KnownFolder | undefined; home: string | undefined; onOpen(): void }) {
  return (
    <section class="grp">
      <h2>{words.folder}</h2>
      <div class="card tight">
        <button class="irow" type="button" aria-haspopup="dialog" onClick={onOpen}>
          <Icon name="folder" />
          <span>
            <b dir="auto">{folder === undefined ? words.chooseFolder : folderName(folder.path)}</b>
            {folder !== undefined && (
              <>
                <small>
                  <bdi>{shortPath(folder.path, home)}</bdi>
                </small>
                <FolderState folder={folder} />
              </>
            )}
          </span>
          <Icon name="chevron-right" class="chev" />
        </button>
      </div>
    </section>
  )
}

/** Shown for a folder that the machine will refuse, judging by its path. */
export function NotAllowed({ folder }: { folder: string }) {
  const program = useProgram()
  return (
    <section class="card tight not-allowed" role="note">
      <div class="irow">
        <Icon name="folder-lock" />
        <span>
          <b>{words.notAllowed}</b>
          <small>{words.notAllowedText}</small>
        </span>
      </div>
      <TypedCommand text={[program, 'allow', quoted(folder)].join(' ')} />
    </section>
  )
}

function quoted(path: string): string {
  return /^[\w./~@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

export function MakeSheet(props: { folder: string; host: string; onMake(): void; onClose(): void }) {
  return (
    <Sheet title={words.makeTitle} onClose={props.onClose}>
      <code class="path-t">{props.folder}</code>
      <p class="lead">{words.makeText(props.host)}</p>
      <div class="acts">
        <Button look="quiet" isLarge onClick={closeLayer}>
          {words.cancel}
        </Button>
        <Button
          look="primary"
          isLarge
          onClick={() => {
            closeLayer()
            props.onMake()
          }}
        >
          {words.make}
        </Button>
      </div>
    </Sheet>
  )
}
