import { useMemo, useState } from 'preact/hooks'
import { toBase64 } from '../../../../lib/crypto/bytes.ts'
import { imageTypes } from '../../../../lib/protocol/sealed/calls/images.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Icon } from '../../../ui/icons/icon.tsx'
import { work as words } from '../../../words/work.ts'
import { splitLines } from '../../text/diff-rows.ts'
import { highlightLine, languageOf } from '../../text/highlight.ts'
import { LineChunks } from '../../text/line-chunks.tsx'
import { toggleWrap, wrapsLines } from '../code-layout.ts'
import { Picture } from '../diff/image-diff.tsx'
import type { WorkProps } from '../frame.tsx'
import { WorkEdit } from './edit.tsx'

const mostShown = 2_000_000

/** One file, to read; "Edit" allows changing it. */
export function WorkFile(props: WorkProps & { path: string; bytes: Uint8Array<ArrayBuffer>; onAgain(): void }) {
  const { work, facts, path, bytes } = props
  const [isEditing, setEditing] = useState(work.edits.has(path))
  const text = useMemo(() => readText(bytes), [bytes])
  const mime = imageTypes[languageOf(path)]
  const canEdit = text !== undefined && work.isHere.value
  if (isEditing && text !== undefined) {
    return (
      <WorkEdit
        work={work}
        facts={facts}
        path={path}
        bytes={bytes}
        text={text}
        onDone={isChanged => {
          setEditing(false)
          if (isChanged) props.onAgain()
        }}
      />
    )
  }
  return (
    <>
      <div class="wacts">
        <span class="size">
          {words.size(bytes.length)}
          {text !== undefined && `, ${words.lines(splitLines(text).length)}`}
        </span>
        <span class="sp" />
        {text !== undefined && (
          <button class="ib" type="button" aria-label={words.wrap} aria-pressed={wrapsLines.value} onClick={toggleWrap}>
            <Icon name="text-wrap" />
          </button>
        )}
        <CopyButton text={path} what={words.copyPath} />
        <button class="ib" type="button" aria-label={words.mention} onClick={() => props.onMention(`@${path} `)}>
          <Icon name="message-square-text" />
        </button>
        {canEdit && !hasMixedEnds(text) && (
          <Button look="quiet" icon="pencil" onClick={() => setEditing(true)}>
            {words.edit}
          </Button>
        )}
      </div>
      {mime !== undefined ? (
        <div class="images">
          <Picture mime={mime} bytes={toBase64(bytes)} says={path} />
        </div>
      ) : text === undefined ? (
        <p class="lead pad">{bytes.length > mostShown ? words.neverShown(words.size(bytes.length)) : words.notText}</p>
      ) : (
        <>
          {hasMixedEnds(text) && <p class="hint">{words.mixedEnds}</p>}
          <Code text={text} path={path} />
        </>
      )}
    </>
  )
}

function Code({ text, path }: { text: string; path: string }) {
  const lines = useMemo(() => splitLines(text), [text])
  const language = languageOf(path)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
    <section class={`wdiff plain ${wrapsLines.value ? '' : 'no-wrap'}`} tabIndex={0} aria-label={words.linesOf(path)}>
      <LineChunks
        count={lines.length}
        show={(from, to) =>
          lines.slice(from, to).map((line, index) => (
            <div key={from + index} class="wl">
              <span class="ln">{from + index + 1}</span>
              <code>
                {highlightLine(line, language).map((span, at) =>
                  span.look === '' ? (
                    span.text
                  ) : (
                    <i key={at} class={span.look}>
                      {span.text}
                    </i>
                  )
                )}
              </code>
            </div>
          ))
        }
      />
    </section>
  )
}

/** Undefined if it is binary, or too long to show. */
function readText(bytes: Uint8Array): string | undefined {
  if (bytes.length > mostShown || bytes.subarray(0, 8000).includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A text area supports only one kind of line ending: it would convert the others. */
function hasMixedEnds(text: string): boolean {
  const all = text.split('\n').length - 1
  const windows = text.split('\r\n').length - 1
  return (windows !== 0 && windows !== all) || text.replaceAll('\r\n', '').includes('\r')
}
