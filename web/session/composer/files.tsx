import type { Attaching, SessionFiles } from '../../model/session/files.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose as words } from '../../words/compose.ts'
import { lists } from '../../words/lists.ts'
import { session } from '../../words/session.ts'
import { bytes } from '../../words/size.ts'

/** The files of the draft: each with its progress, and a way to remove it. */
export function ComposerFiles({ files }: { files: SessionFiles }) {
  const chosen = files.chosen.value
  if (chosen.length === 0) return null
  const failed = chosen.filter(({ state }) => state.type === 'failed')
  const held = chosen.filter(({ state }) => state.type === 'waits')
  const rest = chosen.length - failed.length
  return (
    <>
      {failed.map(each => (
        <Failed key={each.key} file={each} files={files} rest={rest} />
      ))}
      {held.map(each => (
        <Held key={each.key} file={each} files={files} />
      ))}
      <ul class="att-row" aria-label={words.attached}>
        {chosen
          .filter(({ state }) => state.type !== 'failed' && state.type !== 'waits')
          .map(each => (
            <li key={each.key} class="att-chip">
              {each.preview === undefined ? <Icon name="file-text" /> : <img src={each.preview} alt="" />}
              <span>
                <bdi>{each.name}</bdi>
                <small>{progressOf(each)}</small>
                {each.state.type === 'uploading' && <progress max={1} value={each.state.sent} aria-label={each.name} />}
              </span>
              <button class="ib" type="button" aria-label={words.remove(each.name)} onClick={() => files.remove(each.key)}>
                <Icon name="x" />
              </button>
            </li>
          ))}
      </ul>
    </>
  )
}

function Failed({ file, files, rest }: { file: Attaching; files: SessionFiles; rest: number }) {
  if (file.state.type !== 'failed') return null
  const { why } = file.state
  return (
    <p class="problem att-failed" role="alert">
      <Icon name="circle-alert" />
      <span>
        <bdi>{words.unfit[why](file.name)}</bdi>
        {rest > 0 && <small>{words.others(rest)}</small>}
      </span>
      {why === 'away' && (
        <button class="txt" type="button" onClick={() => files.tryAgain(file.key)}>
          {session.tryAgain}
        </button>
      )}
      <button class="ib" type="button" aria-label={words.remove(file.name)} onClick={() => files.remove(file.key)}>
        <Icon name="x" />
      </button>
    </p>
  )
}

/** A large photo in low-data mode. */
function Held({ file, files }: { file: Attaching; files: SessionFiles }) {
  if (file.state.type !== 'waits') return null
  return (
    <p class="att-held">
      {file.preview === undefined ? <Icon name="image" /> : <img src={file.preview} alt="" />}
      <span role="status">
        {words.photoWaits[file.state.for](bytes(file.size))}
        <small>
          <bdi>{file.name}</bdi>
        </small>
      </span>
      <button class="txt" type="button" onClick={() => files.goNow(file.key)}>
        {words.sendNow}
        <span class="vh">: {file.name}</span>
      </button>
      <button class="ib" type="button" aria-label={words.remove(file.name)} onClick={() => files.remove(file.key)}>
        <Icon name="x" />
      </button>
    </p>
  )
}

function progressOf({ state, size }: Attaching): string {
  if (state.type === 'reading') return words.reading
  return state.type === 'uploading' ? bytes(size) + lists.comma + words.percent(Math.round(100 * state.sent)) : bytes(size)
}
