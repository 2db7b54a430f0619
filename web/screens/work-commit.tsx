import { useState } from 'preact/hooks'
import type { ChangedFile, CommitOutcome } from '../../lib/protocol/sealed/git.ts'
import { Icon } from '../icons/icon.tsx'
import { Button } from '../parts/button.tsx'
import { TextArea } from '../parts/field.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { toast } from '../parts/toast.tsx'
import { TroubleNote } from '../parts/work-trouble.tsx'
import type { SessionFacts } from '../state/session-facts.ts'
import { troubleOf, type Work, type WorkTrouble } from '../state/work.ts'
import { work as words } from '../words/work.ts'
import { FileFace, Lines } from './work-rows.tsx'

/** Says what a commit does, and chooses what goes in; each choice is made on the machine at once. */
export function CommitSheet({
  work,
  facts,
  files,
  onClose
}: {
  work: Work
  facts: SessionFacts
  files: readonly ChangedFile[]
  onClose(): void
}) {
  // What the session is about, as its agent or a person called it, is often what the commit does.
  const [message, setMessage] = useState(facts.title === undefined || facts.title === facts.folder ? '' : facts.title)
  const [busy, setBusy] = useState<'staging' | 'committing'>()
  const [trouble, setTrouble] = useState<WorkTrouble>()
  const [refused, setRefused] = useState<Extract<CommitOutcome, { type: 'refused' }>>()
  /** What was chosen and is not known to be done yet. */
  const [choosing, setChoosing] = useState<ReadonlyMap<string, boolean>>(new Map())
  const staged = files.filter(file => file.isStaged)
  const attempt = async (what: 'staging' | 'committing', act: () => Promise<void>): Promise<void> => {
    if (busy) return
    setBusy(what)
    setTrouble(undefined)
    setRefused(undefined)
    try {
      await act()
    } catch (error) {
      setTrouble(troubleOf(error))
    }
    await work.refresh()
    setChoosing(new Map())
    setBusy(undefined)
  }
  const choose = (chosen: readonly ChangedFile[], isIn: boolean) =>
    attempt('staging', async () => {
      setChoosing(new Map(chosen.map(({ path }) => [path, isIn])))
      const paths = chosen.flatMap(file => (file.from === undefined ? file.path : [file.path, file.from]))
      if (paths.length > 0) await (isIn ? work.calls.stage(paths) : work.calls.unstage(paths))
    })
  const commit = () =>
    attempt('committing', async () => {
      const outcome = await work.calls.commit(message.trim())
      if (outcome.type === 'refused') return setRefused(outcome)
      toast(words.committed(outcome.id.slice(0, 8)))
      history.back()
    })
  return (
    <Sheet title={words.commitTitle} onClose={onClose}>
      <form
        class="form commit"
        onSubmit={event => {
          event.preventDefault()
          void commit()
        }}
      >
        <TextArea label={words.message} hint={words.messageHint} rows={3} value={message} onInput={setMessage} />
        <fieldset>
          <legend>
            {words.stageLegend}
            <span class="sp" />
            <button class="txt" type="button" onClick={() => void choose(files, true)}>
              {words.stageAll}
            </button>
            <button class="txt" type="button" onClick={() => void choose(staged, false)}>
              {words.stageNone}
            </button>
          </legend>
          <ul class="files">
            {files.map(file => (
              <li key={file.path}>
                <label class="frow">
                  <input
                    type="checkbox"
                    checked={choosing.get(file.path) ?? file.isStaged}
                    // A property without an attribute.
                    ref={box => {
                      if (box) box.indeterminate = !choosing.has(file.path) && file.isStaged && file.isUnstaged
                    }}
                    aria-disabled={busy ? true : undefined}
                    onChange={() => void choose([file], !file.isStaged || file.isUnstaged)}
                  />
                  <FileFace file={file} />
                  <Lines file={file} />
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
        {trouble && <TroubleNote title={words.notDone} trouble={trouble} host={facts.host} />}
        {refused && <Refused refused={refused} host={facts.host} />}
        <p class="hint">{words.hooksRun(facts.host)}</p>
        <Button
          look="primary"
          type="submit"
          isLarge
          isWide
          icon="git-commit-horizontal"
          isOff={message.trim() === '' || staged.length === 0 || !work.isHere.value}
          busy={busy === 'committing' && words.committing}
        >
          {words.commitFiles(staged.length)}
        </Button>
      </form>
    </Sheet>
  )
}

function Refused({ refused, host }: { refused: Extract<CommitOutcome, { type: 'refused' }>; host: string }) {
  return (
    <div class="problem" role="alert">
      <Icon name="circle-alert" />
      <div class="said">
        <b>{words.refused[refused.why]}</b>
        {refused.why === 'no-identity' && <span>{words.refusedHint['no-identity'](host)}</span>}
        {refused.why === 'nothing-staged' && <span>{words.refusedHint['nothing-staged']}</span>}
        {refused.why === 'failed' && <pre dir="auto">{refused.says}</pre>}
      </div>
    </div>
  )
}
