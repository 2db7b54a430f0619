import { useEffect, useState } from 'preact/hooks'
import type { ApprovalRule } from '../../lib/protocol/sealed/decisions/rules.ts'
import { isStale } from '../core/connection.ts'
import { live } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { type KnownRules, keeperOf, type MachineRules, rulesOf } from '../model/rules.ts'
import { folderName } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { LinkRow } from '../session/row/row.tsx'
import { Banner, Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { visible } from '../ui/visible-text.ts'
import { decide as words } from '../words/decide.ts'
import { clockTime } from '../words/time.ts'
import { RulePage } from './rule.tsx'

/** What agents may do without asking, on each machine. `item`: the id of a rule, or `new`. */
export function RulesPage({ item }: { item: string | undefined }) {
  const { known, again } = useRules()
  if (item !== undefined) return <RulePage item={item} known={known} />
  const machines = [...home.value.machines.values()]
  if (machines.length === 0) return <p class="lead">{words.noMachines}</p>
  const isPaused = [...known.values()].some(rules => rules !== 'unknown' && rules.isPaused)
  const reported = [...known.values()].filter(rules => rules !== 'unknown')
  const hasNone = reported.length > 0 && reported.every(({ rules }) => rules.length === 0)
  return (
    <>
      <p class="lead">{words.rulesLead}</p>
      {known.size > 0 && <Pause isPaused={isPaused} machines={machines.filter(({ id }) => known.has(id))} onDone={again} />}
      {machines.map(machine => (
        <OfMachine key={machine.id} machine={machine} rules={known.get(machine.id)} />
      ))}
      {hasNone && <Empty title={words.rulesNone} text={words.rulesNoneText} />}
      <ButtonLink look="quiet" icon="plus" isWide href="/settings/rules/new">
        {words.add}
      </ButtonLink>
    </>
  )
}

function useRules(): { known: KnownRules; again(): void } {
  const link = live.value
  const [known, setKnown] = useState<KnownRules>(new Map())
  const [attempt, setAttempt] = useState(0)
  const keepers = new Map([...home.value.machines.values()].map(machine => [machine.id, keeperOf(machine, home.value)]))
  useEffect(() => {
    if (!link || isStale.peek()) return
    let isGone = false
    for (const [id, keeper] of keepers) {
      if (keeper === undefined) continue
      rulesOf(link, keeper)
        .read()
        .catch(() => 'unknown' as const)
        .then(rules => !isGone && setKnown(before => new Map(before).set(id, rules)))
    }
    return () => {
      isGone = true
    }
  }, [link, [...keepers.values()].join(' '), attempt, isStale.value])
  return { known, again: () => setAttempt(count => count + 1) }
}

function Pause({ isPaused, machines, onDone }: { isPaused: boolean; machines: readonly MachineView[]; onDone(): void }) {
  const { isBusy, run } = useBusy()
  const [hasFailed, setFailed] = useState(false)
  const toggle = () =>
    run(async () => {
      setFailed(false)
      const link = live.peek()
      const keepers = machines.map(machine => keeperOf(machine, home.peek())).filter(keeper => keeper !== undefined)
      const pauses = link ? await Promise.allSettled(keepers.map(keeper => rulesOf(link, keeper).pause(!isPaused))) : undefined
      setFailed(pauses === undefined || pauses.some(({ status }) => status === 'rejected'))
      onDone()
    })
  return (
    <>
      <div class="card tight">
        <label class="irow">
          <Icon name="hand" />
          <span>
            <b>{isPaused ? words.paused : words.pauseAll}</b>
            <small>{words.pauseHint}</small>
          </span>
          <input
            class="switch"
            type="checkbox"
            role="switch"
            checked={isPaused}
            aria-checked={isPaused}
            disabled={isBusy}
            onChange={() => void toggle()}
          />
        </label>
      </div>
      {hasFailed && <Problem title={words.pauseFailed} />}
    </>
  )
}

function OfMachine({ machine, rules }: { machine: MachineView; rules: MachineRules | 'unknown' | undefined }) {
  const host = nameOfMachine(machine)
  if (keeperOf(machine, home.value) === undefined || rules === 'unknown') {
    return (
      <section class="grp">
        <h2>{host}</h2>
        <Banner icon="monitor" title={words.noDaemon(host)} text={words.noDaemonText} />
      </section>
    )
  }
  if (rules === undefined) return <p class="lead">{words.asking}</p>
  if (rules.rules.length === 0) return null
  return (
    <section class="grp">
      <h2>{host}</h2>
      <div class="card tight">
        {rules.rules.map(rule => (
          <LinkRow
            key={rule.id}
            href={`/settings/rules/${rule.id}`}
            icon={iconOf(rule)}
            title={visible(rule.pattern)}
            text={factsOf(rule)}
          />
        ))}
      </div>
    </section>
  )
}

function factsOf({ folder, session, endsAt, used }: ApprovalRule): string {
  return [
    visible(folderName(folder)),
    session === undefined ? undefined : words.oneSession,
    endsAt === undefined ? undefined : words.until(clockTime(endsAt, Date.now())),
    words.used(used)
  ]
    .filter(part => part !== undefined)
    .join(' · ')
}

function iconOf({ on }: ApprovalRule) {
  switch (on) {
    case 'command':
      return 'square-terminal'
    case 'change':
      return 'pencil'
    case 'read':
      return 'eye'
    case 'page':
      return 'globe'
    case 'tool':
      return 'wrench'
  }
}
