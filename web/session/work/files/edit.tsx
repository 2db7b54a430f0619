import { useState } from 'preact/hooks'
import type { SessionFacts } from '../../../model/session/facts.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icons/icon.tsx'
import { toast } from '../../../ui/toast.ts'
import { work as words } from '../../../words/work.ts'
import { TextDiff } from '../diff/file-diff.tsx'
import { fileName } from '../rows.tsx'
import { TroubleNote } from '../states.tsx'
import { type Work, type WorkTrouble, workTroubleOf } from '../work.ts'

/**
 * Edits a file on the machine. It is saved only over exactly what was read: if the machine has other content by now, nothing is written, and
 * both versions are shown. Unsaved text survives visits to other screens.
 */
export function WorkEdit(props: {
  work: Work
  facts: SessionFacts
  path: string
  bytes: Uint8Array<ArrayBuffer>
  text: string
  onDone(isChanged: boolean): void
}) {
  const { work, facts, path } = props
  const ends = props.text.includes('\r\n') ? '\r\n' : '\n'
  const [text, setText] = useState(work.edits.get(path) ?? props.text.replaceAll('\r\n', '\n'))
  const [base, setBase] = useState(props.bytes)
  const [isSaving, setSaving] = useState(false)
  const [trouble, setTrouble] = useState<WorkTrouble>()
  /** The machine's content, if it differs from what was read. */
  const [theirs, setTheirs] = useState<Uint8Array<ArrayBuffer>>()
  const [showsBoth, setShowsBoth] = useState(false)
  const written = text.replaceAll('\n', ends)
  const write = (next: string) => {
    setText(next)
    work.edits.set(path, next)
  }
  const leave = (isChanged: boolean) => {
    work.edits.delete(path)
    props.onDone(isChanged)
  }
  const save = async (over: Uint8Array<ArrayBuffer>) => {
    if (isSaving) return
    setSaving(true)
    setTrouble(undefined)
    try {
      const outcome = await work.calls.write(path, new TextEncoder().encode(written), over)
      if (outcome === 'changed') {
        setTheirs(await work.calls.read(path))
        setShowsBoth(false)
      } else {
        toast(words.saved)
        void work.refresh()
        leave(true)
      }
    } catch (error) {
      setTrouble(workTroubleOf(error))
    }
    setSaving(false)
  }
  return (
    <form
      class="wedit"
      onSubmit={event => {
        event.preventDefault()
        void save(base)
      }}
    >
      {theirs && (
        <div class="problem" role="alert">
          <Icon name="circle-alert" />
          <div>
            <b>{words.changedOnMachine(fileName(path))}</b>
            <span>{words.editNotSaved}</span>
            {!showsBoth && (
              <Button look="text" onClick={() => setShowsBoth(true)}>
                {words.seeBoth}
              </Button>
            )}
          </div>
        </div>
      )}
      {trouble && <TroubleNote title={words.notDone} trouble={trouble} host={facts.host} />}
      {theirs && showsBoth ? (
        <section class="both" aria-label={words.bothTitle}>
          <h2>{words.bothTitle}</h2>
          <p class="hint">{words.bothHint(facts.host)}</p>
          <TextDiff oldText={new TextDecoder().decode(theirs)} newText={written} path={path} comments={undefined} />
          <div class="acts three">
            <Button look="quiet" isLarge onClick={() => leave(true)}>
              {words.takeTheirs}
            </Button>
            <Button
              look="quiet"
              isLarge
              onClick={() => {
                setBase(theirs)
                setTheirs(undefined)
              }}
            >
              {words.goOnEditing}
            </Button>
            <Button look="primary" isLarge busy={isSaving && words.saving} onClick={() => void save(theirs)}>
              {words.keepMine}
            </Button>
          </div>
        </section>
      ) : (
        <>
          <textarea
            aria-label={words.editing(fileName(path))}
            value={text}
            dir="ltr"
            spellcheck={false}
            autocapitalize="none"
            autocomplete="off"
            onInput={event => write(event.currentTarget.value)}
          />
          <div class="acts two">
            <Button look="quiet" isLarge onClick={() => leave(theirs !== undefined)}>
              {words.cancel}
            </Button>
            <Button
              look="primary"
              type="submit"
              isLarge
              busy={isSaving && words.saving}
              isOff={!work.isHere.value || written === props.text}
            >
              {words.save}
            </Button>
          </div>
        </>
      )}
    </form>
  )
}
