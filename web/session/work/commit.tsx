import { useState } from 'preact/hooks'
import type { ChangedFile, CommitOutcome } from '../../../lib/protocol/sealed/calls/git.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { closeLayer } from '../../ui/behavior/layers.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { toast } from '../../ui/toast.ts'
import { work as words } from '../../words/work.ts'
import { FileFace, Lines } from './rows.tsx'
import { TroubleNote } from './states.tsx'
import { type Work, type WorkTrouble, workTroubleOf } from './work.ts'

/** The commit message and the files to include. Nothing is staged on the machine before committing. */
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
  // The title of the session often describes the commit.
  const [message, setMessage] = useState(facts.title === undefined || facts.title === facts.folder ? '' : facts.title)
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<WorkTrouble>()
  const [refused, setRefused] = useState<Extract<CommitOutcome, { type: 'refused' }>>()
  const choice = useChoice(files)
  const chosen = files.filter(choice.isIn)
  const missing = !work.isHere.value
    ? words.commitNeeds.machine(facts.host)
    : chosen.length === 0
      ? words.commitNeeds.files
      : message.trim() === ''
        ? words.commitNeeds.message
        : undefined
  const commit = async () => {
    if (isBusy || missing !== undefined) return
    setBusy(true)
    setTrouble(undefined)
    setRefused(undefined)
    try {
      const outcome = await stageAndCommit(work, choice, files, message.trim())
      if (outcome.type === 'refused') setRefused(outcome)
      else {
        toast(words.committed(outcome.id.slice(0, 8)))
        closeLayer()
      }
    } catch (error) {
      setTrouble(workTroubleOf(error))
    }
    await work.refresh()
    setBusy(false)
  }
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
        <fieldset disabled={isBusy}>
          <legend>
            {words.stageLegend}
            <span class="sp" />
            <button class="txt" type="button" onClick={() => choice.choose(files, true)}>
              {words.stageAll}
            </button>
            <button class="txt" type="button" onClick={() => choice.choose(files, false)}>
              {words.stageNone}
            </button>
          </legend>
          <ul class="files">
            {files.map(file => (
              <li key={file.path}>
                <label class="frow">
                  <input
                    type="checkbox"
                    checked={choice.isIn(file)}
                    // A property without an attribute.
                    ref={box => {
                      if (box) box.indeterminate = choice.isPart(file)
                    }}
                    onChange={() => choice.choose([file], !choice.isIn(file) || choice.isPart(file))}
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
        <p class="hint" role="status">
          {missing ?? words.hooksRun(facts.host)}
        </p>
        <Button
          look="primary"
          type="submit"
          isLarge
          isWide
          icon="git-commit-horizontal"
          isOff={missing !== undefined}
          busy={isBusy && words.committing}
        >
          {words.commitFiles(chosen.length)}
        </Button>
      </form>
    </Sheet>
  )
}

interface CommitChoice {
  isIn(file: ChangedFile): boolean
  /** Some of its lines were staged at the machine, and the selection was not changed here. */
  isPart(file: ChangedFile): boolean
  choose(files: readonly ChangedFile[], isIn: boolean): void
}

/** Initially the files staged at the machine or, if none were, everything. */
function useChoice(files: readonly ChangedFile[]): CommitChoice {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [wasStaged] = useState(() => files.some(file => file.isStaged))
  const isPart = (file: ChangedFile) => wasStaged && !chosen.has(file.path) && file.isStaged && file.isUnstaged
  return {
    isIn: file => chosen.get(file.path) ?? (!wasStaged || file.isStaged),
    isPart,
    choose: (these, isIn) => setChosen(new Map([...chosen, ...these.map(({ path }) => [path, isIn] as const)]))
  }
}

async function stageAndCommit(work: Work, choice: CommitChoice, files: readonly ChangedFile[], message: string): Promise<CommitOutcome> {
  const out = files.filter(file => file.isStaged && !choice.isIn(file))
  const into = files.filter(file => file.isUnstaged && choice.isIn(file) && !choice.isPart(file))
  for (const paths of batches(pathsOf(out))) await work.calls.unstage(paths)
  for (const paths of batches(pathsOf(into))) await work.calls.stage(paths)
  return work.calls.commit(message)
}

// The limit of a daemon.
function batches(paths: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(paths.length / 1000) }, (_, index) => paths.slice(index * 1000, (index + 1) * 1000))
}

function pathsOf(files: readonly ChangedFile[]): string[] {
  return files.flatMap(file => (file.from === undefined ? file.path : [file.path, file.from]))
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
