import { useEffect, useRef, useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import type { Attached } from '../../model/session/attachment.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import type { Queued } from '../../model/session/message-queue.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { feel } from '../../ui/behavior/haptics.ts'
import { onUse } from '../../ui/behavior/on-use.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'
import { ModeButton } from '../mode/button.tsx'
import { useAutoHeight } from './auto-height.ts'
import type { Changes } from './changes.tsx'
import { useFileDrop } from './file-drop.ts'
import { ComposerMenu } from './menu.tsx'
import { isMouseDevice, placeholderOf } from './placeholder.ts'
import { QueueBar } from './queue-bar.tsx'
import { SendButton } from './send-button.tsx'
import { suggestionId, suggestionsId, useSuggestions } from './suggestions.ts'

/** A text to continue with, such as a message that could not be delivered; each new value is inserted once. */
export interface Offered {
  readonly text: string
  readonly files?: readonly Attached[] | undefined
  /** The current draft is already included. */
  readonly isAll?: boolean
  /** The unread message with this text: sending replaces it. */
  readonly of?: string
}

/** The message field. The draft stays on this device until it is sent, also across reloads. */
export function Composer(props: {
  model: SessionModel
  facts: SessionFacts
  isWorking: boolean
  /** False while it is hidden, keeping its draft. */
  isShown: boolean
  queue: readonly Queued[]
  /** Each queued message is shown. */
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
  /** Sent before its files were uploaded, or its agent was there. */
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
    // The reason is shown above; the draft stays.
    if (isAsleep && isNotWoken) setWaits(undefined)
    if (waits === undefined || isUploading || isAsleep || chosen.length < (waits.files ?? 0)) return
    // The person decides first what to do with a failed one.
    if (chosen.some(({ state }) => state.type === 'failed')) setWaits(undefined)
    else sendNow(waits.isSteer)
  }, [waits, isUploading, chosen.length, isAsleep, isNotWoken])
  const lines = useAutoHeight(area, text, props.isShown)
  const { SuggestionList } = (caret !== undefined && suggestionList.get()) || {}
  const suggested = useSuggestions(text, caret, {
    commands: facts.commands,
    hasFiles: canFindFiles(facts),
    findFiles: model.findFiles
  })
  // No key applies to suggestions not shown yet.
  const suggestions = SuggestionList && suggested
  const isDropping = useFileDrop(dropped => files.choose(dropped))

  const write = (next: string, at?: number) => {
    setText(next)
    setCaret(at)
    // A message being edited is unchanged until it is sent.
    if (changes === undefined) texts.keepDraft(next)
  }
  /** As if typed at the caret. */
  const insert = (mark: string) => {
    const at = area.current?.selectionStart ?? text.length
    const before = mark === '@' && at > 0 && !/\s$/.test(text.slice(0, at)) ? ' @' : mark
    place(text.slice(0, at) + before + text.slice(at), at + before.length)
  }
  const place = (next: string, at: number) => {
    write(next, at)
    area.current?.focus()
    // The browser moves the caret to the end when the text is set.
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
    // Agents accept no message without text.
    const sent = text.trim() || attached.map(({ name }) => name).join(', ')
    if (sent === '') return
    endChanges()
    setWhole(false)
    setProblem(false)
    props.onSent()
    feel('sent')
    texts.send(sent, { files: attached, isSteer: isSteer && isWorking, replaces }).catch(() => {
      // It is stored nowhere, so it goes back into the field.
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
  /** False if the key has no effect on suggestions. */
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
      if (of !== undefined) texts.withdraw(of).catch(failed)
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
        onWithdraw={queued => texts.withdraw(queued.localId).catch(failed)}
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
