import { useEffect, useRef, useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import type { Attached } from '../../model/session/attached.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { Queued } from '../../model/session/queue.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import { onUse } from '../../ui/behavior/on-use.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'
import { ModeButton } from '../mode/button.tsx'
import type { Changes } from './changes.tsx'
import { useFileDrop } from './file-drop.ts'
import { useGrowing } from './growing.ts'
import { isMouseDevice, placeholderOf } from './hint.ts'
import { ComposerMenu } from './menu.tsx'
import { QueueBar } from './queue-bar.tsx'
import { SendButton } from './send-button.tsx'
import { suggestionId, suggestionsId, useSuggestions } from './suggestions.ts'

/** Something to go on with, such as a message that could not be delivered; each new value is put in once. */
export interface Offered {
  readonly text: string
  readonly files?: readonly Attached[] | undefined
  /** What was being written is in it already. */
  readonly isAll?: boolean
  /** The message, still unread, whose words these are: sent, they take its place. */
  readonly of?: string
}

/** Where a person writes. What is written stays on this device until it is sent, also over reloads. */
export function Composer(props: {
  model: SessionModel
  facts: SessionFacts
  isWorking: boolean
  /** False while it keeps what is written, and nobody sees it. */
  isShown: boolean
  queue: readonly Queued[]
  /** Each of what waits is shown. */
  showsQueue: boolean
  offered: Offered | undefined
  onMode(): void
  onSent(): void
}) {
  const { model, facts, isWorking } = props
  const { texts, files } = model
  const [text, setText] = useState('')
  const [caret, setCaret] = useState<number>()
  const [problem, setProblem] = useState(false)
  const [isWhole, setWhole] = useState(false)
  /** Sent before its files were there, or its agent. */
  const [waits, setWaits] = useState<{ isSteer: boolean; files?: number }>()
  const [changes, setChanges] = useState<Changes>()
  const area = useRef<HTMLTextAreaElement>(null)
  const chosen = files.chosen.value
  const isUploading = chosen.some(({ state }) => ['reading', 'waits', 'uploading'].includes(state.type))
  const { ComposerFiles } = (chosen.length > 0 && composerFiles.get()) || {}
  const { ChangesBar } = (changes && changesBar.get()) || {}
  const canSend = text.trim() !== '' || chosen.some(({ state }) => state.type !== 'failed')

  useEffect(() => {
    let isGone = false
    void texts.readDraft().then(async draft => {
      if (!isGone && draft !== '') setText(now => (now === '' ? draft : now))
      const files = await texts.takeLeaving()
      if (!isGone && files !== undefined) setWaits({ isSteer: false, files })
    })
    const stop = texts.onDraft(setText)
    return () => {
      isGone = true
      stop()
    }
  }, [texts])
  useEffect(() => {
    if (props.offered === undefined) return
    goOn(props.offered)
  }, [props.offered])
  const isStillUnread = model.unread.value.some(({ localId }) => localId === changes?.of)
  useEffect(() => {
    if (changes !== undefined && !changes.isLate && !isStillUnread) setChanges({ ...changes, isLate: true })
  }, [changes, isStillUnread])
  const replaces = changes?.isLate ? undefined : changes?.of
  const isAsleep = facts.wakesDeaf
  const isNotWoken = typeof model.asked.value.resume === 'object'
  useEffect(() => {
    // Why is said above; what was to be sent stays where it was written.
    if (isAsleep && isNotWoken) setWaits(undefined)
    if (waits === undefined || isUploading || isAsleep || chosen.length < (waits.files ?? 0)) return
    // Somebody decides first what becomes of one that failed.
    if (chosen.some(({ state }) => state.type === 'failed')) setWaits(undefined)
    else sendNow(waits.isSteer)
  }, [waits, isUploading, chosen.length, isAsleep, isNotWoken])
  const lines = useGrowing(area, text, props.isShown)
  const { SuggestionList } = (caret !== undefined && suggestionList.get()) || {}
  const suggested = useSuggestions(text, caret, {
    commands: facts.commands,
    hasFiles: canFindFiles(facts),
    findFiles: model.findFiles
  })
  // No key takes what is not shown yet.
  const suggestions = SuggestionList && suggested
  const isDropping = useFileDrop(dropped => files.choose(dropped))

  const write = (next: string, at?: number) => {
    setText(next)
    setCaret(at)
    // What is changed is kept as it was until it is sent.
    if (changes === undefined) texts.keepDraft(next)
  }
  /** As if it had been typed where the caret stands. */
  const insert = (mark: string) => {
    const at = area.current?.selectionStart ?? text.length
    const before = mark === '@' && at > 0 && !/\s$/.test(text.slice(0, at)) ? ' @' : mark
    place(text.slice(0, at) + before + text.slice(at), at + before.length)
  }
  const place = (next: string, at: number) => {
    write(next, at)
    area.current?.focus()
    // The browser puts the caret at the end of a text that it is given.
    requestAnimationFrame(() => area.current?.setSelectionRange(at, at))
  }
  const take = (index: number) => {
    if (suggestions === undefined) return
    const { text: next, caret: at } = suggestions.taken(index)
    place(next, at)
  }
  const send = (isSteer: boolean) => {
    if (!canSend) return
    if (isAsleep) void model.resume()
    if (isUploading || isAsleep) setWaits({ isSteer })
    else sendNow(isSteer)
  }
  const sendNow = (isSteer: boolean) => {
    setWaits(undefined)
    const attached = files.take()
    // Agents take no message without words.
    const sent = text.trim() || attached.map(({ name }) => name).join(', ')
    if (sent === '') return
    endChanges()
    setWhole(false)
    setProblem(false)
    props.onSent()
    feel('sent')
    texts.send(sent, { files: attached, isSteer: isSteer && isWorking, replaces }).catch(() => {
      // Not kept anywhere: it goes back to where it was written.
      if (changes !== undefined) files.take()
      setChanges(changes)
      write(sent)
      files.offer(attached)
      setProblem(true)
      feel('failed')
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return
    if (suggestions && !event.altKey && !event.ctrlKey && !event.metaKey && choose(event)) return event.preventDefault()
    if (event.key === 'Escape' && isWhole) {
      event.preventDefault()
      return setWhole(false)
    }
    if (event.key !== 'Enter' || event.shiftKey) return
    if (event.altKey) {
      event.preventDefault()
      send(true)
    } else if ((isMouseDevice() && isOn('enterSends')) || event.ctrlKey || event.metaKey) {
      event.preventDefault()
      send(false)
    }
  }
  /** False when the key says nothing to what is suggested. */
  const choose = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (key === 'ArrowDown' || key === 'ArrowUp') suggestions?.move(key === 'ArrowDown' ? 1 : -1)
    else if ((key === 'Enter' || key === 'Tab') && !shiftKey) take(suggestions?.at ?? 0)
    else if (key === 'Escape') suggestions?.close()
    else return false
    return true
  }
  const goOn = ({ text: next, files: attached, isAll, of }: Offered) => {
    if (of !== undefined && facts.editsQueue) {
      const own = files.take()
      setChanges({ of, draft: changes?.draft ?? text, files: changes?.files ?? own, isLate: false })
      setText(next)
    } else {
      if (of !== undefined) void texts.withdraw(of)
      write(isAll || text.trim() === '' ? next : `${next}\n${text}`)
    }
    files.offer(attached ?? [])
    area.current?.focus()
  }
  const endChanges = () => {
    setText(changes?.draft ?? '')
    if (changes === undefined) texts.keepDraft('')
    else files.offer(changes.files)
    setChanges(undefined)
  }
  const failed = () => setProblem(true)
  const hint = placeholderOf(facts, isWorking)
  return (
    <form
      class={`composer ${isWhole ? 'whole' : ''} ${isDropping ? 'dropping' : ''}`}
      aria-label={words.message}
      onSubmit={event => {
        event.preventDefault()
        send(false)
      }}
    >
      <QueueBar
        queue={props.queue}
        isAsked={props.showsQueue}
        facts={facts}
        onEdit={queued => goOn({ ...queued, of: queued.localId })}
        onSteer={({ text, files, localId }) => texts.send(text, { files, isSteer: true, replaces: localId }).catch(failed)}
        onMoveUp={({ localId }, before) => texts.move(localId, before).catch(failed)}
        onWithdraw={queued => void texts.withdraw(queued.localId)}
      />
      {problem && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{words.notKept}</span>
        </p>
      )}
      {suggestions && SuggestionList && <SuggestionList suggestions={suggestions} abouts={facts.commandAbouts} onTake={take} />}
      <div class="cbox">
        {ComposerFiles && <ComposerFiles files={files} />}
        {changes && ChangesBar && (
          <ChangesBar
            changes={changes}
            onCancel={() => {
              files.take()
              endChanges()
              area.current?.focus()
            }}
          />
        )}
        {waits && (
          <p class="waits" role="status">
            {isUploading ? compose.uploading : compose.waking(facts.agentShort)}
          </p>
        )}
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={text}
          placeholder={hint}
          aria-label={hint}
          aria-autocomplete="list"
          aria-controls={suggestions && suggestionsId}
          aria-activedescendant={suggestions && suggestionId(suggestions.at)}
          enterkeyhint={isMouseDevice() && isOn('enterSends') ? 'send' : 'enter'}
          onInput={event => write(event.currentTarget.value, event.currentTarget.selectionStart)}
          onSelect={event => caret !== undefined && setCaret(event.currentTarget.selectionStart)}
          onBlur={() => setCaret(undefined)}
          onKeyDown={onKeyDown}
          onPaste={event => {
            const pasted = [...(event.clipboardData?.files ?? [])]
            if (pasted.length === 0) return
            event.preventDefault()
            files.choose(pasted)
          }}
        />
        {isDropping && <p class="drop-hint">{compose.drop}</p>}
        <div class="ctools">
          <ComposerMenu
            hasCommands={facts.commands.length > 0}
            hasFiles={canFindFiles(facts)}
            onFiles={picked => files.choose(picked)}
            onText={insert}
            onCommand={() => text === '' && insert('/')}
            onMention={() => insert('@')}
          />
          <ModeButton facts={facts} asked={model.choices.value} onOpen={props.onMode} />
          <span class="sp" />
          {(lines >= linesToExpand || isWhole) && (
            <button
              class="ib"
              type="button"
              aria-label={isWhole ? compose.collapse : compose.expand}
              aria-pressed={isWhole}
              onClick={() => setWhole(!isWhole)}
            >
              <Icon name={isWhole ? 'chevron-down' : 'maximize-2'} />
            </button>
          )}
          <SendButton
            isWorking={isWorking}
            isChange={replaces !== undefined}
            canSend={canSend}
            isWaiting={waits !== undefined}
            onSteer={() => send(true)}
          />
        </div>
      </div>
    </form>
  )
}

const linesToExpand = 4
const composerFiles = onUse(() => import('./files.tsx'))
const changesBar = onUse(() => import('./changes.tsx'))
const suggestionList = onUse(() => import('./suggestion-list.tsx'))

function canFindFiles({ methods, presence }: SessionFacts): boolean {
  return presence === 'here' && methods?.includes('findFiles') === true
}
