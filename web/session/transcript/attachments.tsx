import { useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import { type Attached, isPicture } from '../../model/session/attachment.ts'
import type { SessionFiles } from '../../model/session/files.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose as words } from '../../words/compose.ts'
import { session } from '../../words/session.ts'
import { bytes } from '../../words/size.ts'

/** The files of a message, above its text. */
export function AttachedFiles({ files, shower }: { files: readonly Attached[]; shower: Pick<SessionFiles, 'show'> }) {
  if (files.length === 0) return null
  return (
    <ul class="att-list">
      {files.map(file => (
        <li key={file.ref}>{isPicture(file) ? <AttachedPicture file={file} shower={shower} /> : <FileLine file={file} />}</li>
      ))}
    </ul>
  )
}

export function FileLine({ file }: { file: Pick<Attached, 'name' | 'size'> }) {
  return (
    <span class="att-file">
      <Icon name="paperclip" />
      <bdi>{session.file(file.name, bytes(file.size))}</bdi>
    </span>
  )
}

/** Downloaded, decrypted here and shown from memory; in low-data mode only on request. */
function AttachedPicture({ file, shower }: { file: Attached; shower: Pick<SessionFiles, 'show'> }) {
  const [isAsked, ask] = useState(!isOn('lowData'))
  const { last: address, error } = useAnswer(isAsked && (() => shower.show(file)), [isAsked, file, shower])
  if (!isAsked) {
    return (
      <button class="att-file" type="button" onClick={() => ask(true)}>
        <Icon name="image" />
        <bdi>{words.loadPicture(file.name, bytes(file.size))}</bdi>
      </button>
    )
  }
  if (error !== undefined) {
    return (
      <button class="att-file" type="button" onClick={() => ask(false)}>
        <Icon name="circle-alert" />
        <bdi>{words.noPicture(file.name)}</bdi>
      </button>
    )
  }
  // Its space is reserved, so that nothing moves when it arrives.
  return <img class="att-pic" src={address} alt={file.name} width={file.image?.width} height={file.image?.height} draggable={false} />
}
