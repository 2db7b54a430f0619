import type { Step } from '../../model/transcript/items.ts'
import { session as words } from '../../words/session.ts'
import { type FileHits, hitsOf } from '../text/search-hits.ts'
import { insidePath, textOf } from './step-words.ts'

/** Search results, each file once with its lines below it. */
export function Hits({ files, folder }: { files: readonly FileHits[]; folder: string | undefined }) {
  const shown = files.slice(0, mostFiles)
  return (
    <>
      <ul>
        {shown.map(({ file, hits }) => (
          <li key={file}>
            <b class="fdiff-n">
              <bdi>{insidePath(file, folder)}</bdi>
            </b>
            <pre
              class="out"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
              tabIndex={0}
            >
              <code>{hits.slice(0, mostHits).map(({ line, text }) => `${line}  ${text.trim()}\n`)}</code>
            </pre>
            {hits.length > mostHits && <small>{words.moreHits(hits.length - mostHits)}</small>}
          </li>
        ))}
      </ul>
      {files.length > mostFiles && <small>{words.moreFiles(files.length - mostFiles)}</small>}
    </>
  )
}

/** The results of a step that reports them by file and line. */
export function foundBy(step: Step): readonly FileHits[] | undefined {
  return step.kind === 'search' && step.state === 'ok' ? hitsOf(textOf(step.content)) : undefined
}

const mostFiles = 50
const mostHits = 20
