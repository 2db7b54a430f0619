import type { FileHits } from '../state/search-hits.ts'
import { session as words } from '../words/session.ts'
import { insidePath } from './step-words.ts'

/** What a search found, each file once with its lines below it. */
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
            <pre class="out">
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

const mostFiles = 50
const mostHits = 20
