import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { changeMessage, unsentMessages } from '../model/outbox/message-changes.ts'
import { withdrawMessage } from '../model/outbox/messages.ts'
import type { Reply } from '../model/outbox/replies.ts'
import { startAgain, startSaying, type WaitingStart } from '../model/outbox/starts.ts'
import type { UnsentEntries } from '../model/outbox/unsent.ts'
import { folderName, titleOf } from '../model/sessions.ts'
import { subjectOf } from '../session/decide/subject.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { visible } from '../ui/visible-text.ts'
import { compose } from '../words/compose.ts'
import { words } from '../words/index.ts'
import { lists } from '../words/lists.ts'
import { session } from '../words/session.ts'
import { start as startWords } from '../words/start.ts'

/** Entries that this device will send once it can: sessions to start, decisions, and messages, each with a way to cancel. */
export function UnsentCard({ link, unsent }: { link: Live; unsent: UnsentEntries }) {
  const { starts, replies, messages } = unsent
  const texts = unsentMessages(link, link.unsent.value)
  return (
    <section aria-labelledby="leaving-h">
      <div class="sec">
        <h2 id="leaving-h">{isStale.value ? lists.leavingThen : lists.leaving}</h2>
      </div>
      <ul class="card tight leaving">
        {starts.map(start => (
          <StartItem key={start.key} link={link} start={start} />
        ))}
        {replies.map(reply => (
          <Item
            key={reply.key}
            icon="hand"
            title={lists.leavingDecision(sayReply(reply))}
            text={nameOf(reply.session)}
            href={`/s/${encodeURIComponent(reply.session)}`}
          >
            <span class="me-acts">
              <a class="txt" href={`/s/${encodeURIComponent(reply.session)}`}>
                {compose.edit}
                <span class="vh">: {sayReply(reply)}</span>
              </a>
              <TakeBack what={sayReply(reply)} onPress={() => void link.queue.withdraw(reply.key)} />
            </span>
          </Item>
        ))}
        {messages.map(({ session: id, count }) => {
          const said = texts.filter(message => message.session === id)
          // Messages that cannot be decrypted here can only be counted.
          if (said.length === 0) return <Message key={id} session={id} title={lists.unsentMessages(count)} />
          return said.map(message => (
            <Message key={`${id} ${message.localId}`} session={id} title={message.text}>
              <Change
                id={`${id} ${message.localId}`}
                what={message.text}
                text={message.text}
                onSave={text => changeMessage(link, message, text)}
                onWithdraw={() => void withdrawMessage(link, message)}
              />
            </Message>
          ))
        })}
      </ul>
    </section>
  )
}

function StartItem({ link, start }: { link: Live; start: WaitingStart }) {
  const machine = home.value.machines.get(start.machine)
  const host = machine ? nameOfMachine(machine) : words.machines.sealed
  const { state } = start
  const title = lists.leavingStart(start.agent, folderName(start.asked.folder))
  const withdraw = () => void link.queue.withdraw(start.key)
  const again = (label: string, mayMakeFolder: boolean) => (
    <button class="txt" type="button" onClick={() => void link.queue.change('start', start.key, startAgain(mayMakeFolder))}>
      {label}
    </button>
  )
  if (state.type === 'failed') {
    return (
      <li>
        <TroubleCard title={startWords.notStarted(start.agent)} trouble={state} host={host}>
          <span class="me-acts">
            {again(words.tryAgain, false)}
            <TakeBack what={title} onPress={withdraw} />
          </span>
        </TroubleCard>
      </li>
    )
  }
  return (
    <Item icon="play" title={title} text={state.type === 'sending' ? startWords.starting(start.agent, host) : lists.leavingWhen(host)}>
      {state.type === 'wants-folder' && again(startWords.make, true)}
      {state.type !== 'sending' && (
        <Change
          id={start.key}
          what={title}
          text={start.text}
          onSave={text => link.queue.change('start', start.key, startSaying(text))}
          onWithdraw={withdraw}
        />
      )}
    </Item>
  )
}

function Item(props: { icon: IconName; title: string; text: string; href?: string; children?: ComponentChildren }) {
  return (
    <li class="irow">
      <Icon name={props.icon} />
      <span>
        {props.href === undefined ? (
          <b dir="auto">{props.title}</b>
        ) : (
          <a href={props.href} dir="auto">
            {props.title}
          </a>
        )}
        <small dir="auto">{props.text}</small>
      </span>
      {props.children}
    </li>
  )
}

function Message(props: { session: string; title: string; children?: ComponentChildren }) {
  return (
    <Item
      icon="message-square-text"
      title={props.title}
      text={nameOf(props.session)}
      href={`/s/${encodeURIComponent(props.session)}`}
      children={props.children}
    />
  )
}

/** Edits unsent text in place, or withdraws it. */
function Change(props: { id: string; what: string; text: string; onSave(text: string): Promise<void>; onWithdraw(): void }) {
  const [text, setText] = useState<string>()
  const [hasFailed, setFailed] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const { isBusy, run } = useBusy()
  const isOpen = text !== undefined
  useEffect(() => (isOpen ? area.current?.focus() : undefined), [isOpen])
  const close = () => {
    setText(undefined)
    setFailed(false)
    // Its line may have been gone for a moment while it was edited.
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-changes="${CSS.escape(props.id)}"]`)?.focus())
  }
  if (text === undefined) {
    return (
      <span class="me-acts">
        <button class="txt" type="button" data-changes={props.id} onClick={() => setText(props.text)}>
          {compose.edit}
          <span class="vh">: {props.what}</span>
        </button>
        <TakeBack what={props.what} onPress={props.onWithdraw} />
      </span>
    )
  }
  return (
    <form
      class="leaving-form"
      onSubmit={event => {
        event.preventDefault()
        if (text.trim() === '') return
        setFailed(false)
        void run(() => props.onSave(text.trim()).then(close, () => setFailed(true)))
      }}
    >
      <textarea
        ref={area}
        rows={3}
        dir="auto"
        aria-label={session.message}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => event.key === 'Escape' && close()}
      />
      {hasFailed && (
        <p class="problem" role="alert">
          {lists.notDone}
        </p>
      )}
      <span class="me-acts">
        <button class="txt" type="button" onClick={close}>
          {words.cancel}
        </button>
        <button class="txt" type="submit" aria-disabled={isBusy ? true : undefined}>
          {lists.save}
        </button>
      </span>
    </form>
  )
}

function TakeBack({ what, onPress }: { what: string; onPress(): void }) {
  return (
    <button class="txt" type="button" onClick={onPress}>
      {lists.takeBack}
      <span class="vh">: {what}</span>
    </button>
  )
}

function sayReply(reply: Reply): string {
  if (reply.type === 'question') return visible(reply.asked.title ?? reply.asked.id)
  const { command, heading } = subjectOf(reply.asked, undefined)
  return visible(command ?? heading)
}

function nameOf(id: string): string {
  const known = home.value.sessions.get(id)
  return (known && titleOf(known)) ?? words.session.untitled
}
