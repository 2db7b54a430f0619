import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from '../icons/icon.tsx'
import { subjectOf } from '../parts/dock-subject.ts'
import { TroubleCard } from '../parts/trouble.tsx'
import { visible } from '../parts/visible.ts'
import { home } from '../state/home.ts'
import type { Leaving } from '../state/leaving.ts'
import type { Live } from '../state/live.ts'
import { nameOfMachine } from '../state/machines.ts'
import type { Reply } from '../state/replies.ts'
import { folderOf, titleOf } from '../state/sessions.ts'
import type { WaitingStart } from '../state/waiting-starts.ts'
import { words } from '../words/index.ts'
import { lists } from '../words/lists.ts'
import { start as startWords } from '../words/start.ts'

/** What leaves this device once it can: sessions that shall begin, decisions, and messages, each with a way to take it back. */
export function LeavingCard({ link, leaving }: { link: Live; leaving: Leaving }) {
  const { starts, replies, messages } = leaving
  return (
    <section aria-labelledby="leaving-h">
      <div class="sec">
        <h2 id="leaving-h">{lists.leaving}</h2>
      </div>
      <ul class="card tight leaving">
        {starts.map(start => (
          <StartItem key={start.key} link={link} start={start} />
        ))}
        {replies.map(reply => (
          <Item
            key={reply.asked.id}
            icon="hand"
            title={lists.leavingDecision(sayReply(reply))}
            text={nameOf(reply.session)}
            href={`/s/${encodeURIComponent(reply.session)}`}
          >
            <TakeBack what={sayReply(reply)} onPress={() => link.replies.withdraw(reply.session, reply.asked.id)} />
          </Item>
        ))}
        {messages.map(({ session, count }) => (
          <Item
            key={session}
            icon="message-square-text"
            title={lists.leavingMessages(count)}
            text={nameOf(session)}
            href={`/s/${encodeURIComponent(session)}`}
          />
        ))}
      </ul>
    </section>
  )
}

function StartItem({ link, start }: { link: Live; start: WaitingStart }) {
  const machine = home.value.machines.get(start.machine)
  const host = machine ? nameOfMachine(machine) : words.machines.sealed
  const { state } = start
  const title = lists.leavingStart(start.agent, folderOf(start.asked.folder))
  const takeBack = <TakeBack what={title} onPress={() => void link.starts.withdraw(start.key)} />
  const again = (label: string, mayMakeFolder: boolean) => (
    <button class="txt" type="button" onClick={() => void link.starts.tryAgain(start.key, mayMakeFolder)}>
      {label}
    </button>
  )
  if (state.type === 'failed') {
    return (
      <li>
        <TroubleCard title={startWords.notStarted(start.agent)} trouble={state} host={host}>
          <span class="me-acts">
            {again(words.tryAgain, false)}
            {takeBack}
          </span>
        </TroubleCard>
      </li>
    )
  }
  return (
    <Item icon="play" title={title} text={state.type === 'starting' ? startWords.starting(start.agent, host) : lists.leavingWhen(host)}>
      {state.type === 'wants-folder' && again(startWords.make, true)}
      {state.type !== 'starting' && takeBack}
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

function nameOf(session: string): string {
  const known = home.value.sessions.get(session)
  return (known && titleOf(known)) ?? words.session.untitled
}
