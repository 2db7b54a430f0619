import type { MachineProcess } from '../../../lib/protocol/sealed/calls/machine-work.ts'
import { now } from '../../core/clock.ts'
import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { hasDaemon } from '../../model/machines.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { readProcess } from '../../model/session/process.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { lastOutput } from '../../model/transcript/last-output.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { lists } from '../../words/lists.ts'
import { session as words } from '../../words/session.ts'
import { bytes } from '../../words/size.ts'
import { clockTime, duration, lasting } from '../../words/time.ts'
import { Output } from '../transcript/step-output.tsx'
import { KeyMark } from './key-mark.tsx'
import { spent } from './spent.ts'

/** The details of a session, as far as known. */
export function InfoSheet({ model, facts, onClose }: { model: SessionModel; facts: SessionFacts; onClose(): void }) {
  const metadata = home.value.sessions.get(facts.id)?.metadata
  const process = useProcess(facts, metadata?.machineId)
  const { tokens, cost } = spent(model.transcript.value)
  const placeholder = process === 'asking' ? lists.facts.asking : process === 'unknown' ? lists.facts.notTold : undefined
  const known = typeof process === 'object' ? process : undefined
  const heard = lastOutput(model.transcript.value)
  const rows: { name: string; value: string | undefined; canCopy?: boolean }[] = [
    { name: words.facts.folder, value: facts.path, canCopy: true },
    { name: words.facts.branch, value: facts.branch },
    { name: lists.facts.worktree, value: metadata?.worktree?.branch },
    { name: lists.facts.repository, value: metadata?.worktree?.repository, canCopy: true },
    { name: words.facts.machine, value: facts.host },
    { name: words.facts.agent, value: facts.agent },
    { name: words.facts.version, value: facts.version },
    { name: words.facts.process, value: (known?.pid ?? facts.process)?.toString() },
    {
      name: lists.facts.memory,
      value: known ? bytes(known.memoryBytes) + lists.comma + lists.facts.processes(known.processes) : placeholder
    },
    { name: lists.facts.uptime, value: known && duration(Math.max(0, now.value - known.startedAt)) },
    { name: lists.facts.tokens, value: tokens },
    { name: lists.facts.cost, value: cost },
    { name: lists.facts.key, value: facts.hasOwnKey ? lists.ownKey(ageOf(facts.createdAt)) : lists.accountKey },
    { name: words.facts.id, value: facts.id, canCopy: true },
    { name: lists.facts.agentId, value: metadata?.agentSessionId, canCopy: true }
  ]
  return (
    <Sheet title={words.info} onClose={onClose}>
      <dl class="facts">
        {rows.map(
          ({ name, value, canCopy }) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{value}</bdi> {canCopy && <CopyButton text={value} what={name} />}
                </dd>
              </div>
            )
        )}
      </dl>
      <KeyMark facts={facts} />
      {heard && (
        <section class="heard">
          <h3>{lists.lastOutput(clockTime(heard.at, now.value))}</h3>
          <Output text={heard.text} />
        </section>
      )}
    </Sheet>
  )
}

/** In whole days, if it lasted at least one. */
function ageOf(madeAt: number): string {
  const days = Math.floor((now.value - madeAt) / 86_400_000)
  return days < 1 ? lasting(now.value - madeAt) : lists.days(days)
}

function useProcess({ id, presence }: SessionFacts, machine: string | undefined): MachineProcess | 'asking' | 'unknown' | undefined {
  const link = live.value
  const daemon = home.value.machines.get(machine ?? '')
  const ask = presence === 'here' && link && daemon && hasDaemon(daemon) && (() => readProcess(link, daemon.id, id))
  const { value: process } = useAnswer(ask && (async () => (await ask()) ?? 'unknown'), [link, machine, id, presence])
  return process ?? (ask ? 'asking' : undefined)
}
