import { useEffect, useMemo } from 'preact/hooks'
import { bytesOf } from '../../../core/base64.ts'
import { work as words } from '../../../words/work.ts'

/** An image before and after, side by side. */
export function BothImages(props: { path: string; mime: string; oldBytes: string | null; newBytes: string | null }) {
  return (
    <div class="images">
      <Side name={words.before} path={props.path} mime={props.mime} bytes={props.oldBytes} />
      <Side name={words.now} path={props.path} mime={props.mime} bytes={props.newBytes} />
    </div>
  )
}

function Side({ name, path, mime, bytes }: { name: string; path: string; mime: string; bytes: string | null }) {
  return (
    <figure>
      <figcaption>{name}</figcaption>
      {bytes === null ? <p>{words.noImage}</p> : <Picture mime={mime} bytes={bytes} says={words.imageOf(path, name)} />}
    </figure>
  )
}

/** An image from the machine. Its bytes stay in this page. */
export function Picture({ mime, bytes, says }: { mime: string; bytes: string; says: string }) {
  const url = useMemo(() => URL.createObjectURL(new Blob([bytesOf(bytes)], { type: mime })), [mime, bytes])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return <img src={url} alt={says} />
}
