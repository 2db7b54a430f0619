import { useState } from 'preact/hooks'
import type { ApprovalRule, RuleSubject } from '../../lib/protocol/sealed/decisions/rules.ts'
import { trueNow } from '../core/clock.ts'
import { go } from '../core/router.ts'
import { account, live } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import type { KnownRules } from '../model/rules.ts'
import { keeperOf, rulesOf } from '../model/rules.ts'
import { RuleFields } from '../session/decide/rule-fields.tsx'
import { draftOf, type RuleText, ruleTextOf } from '../session/decide/rule-text.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Pick } from '../ui/select.tsx'
import { decide as words } from '../words/decide.ts'
import { lists } from '../words/lists.ts'
import { clockTime } from '../words/time.ts'

/** One rule, to read, change or remove, or a new one. */
export function RulePage({ item, known }: { item: string; known: KnownRules }) {
  const found = [...known].flatMap(([machine, rules]) =>
    rules === 'unknown' ? [] : rules.rules.filter(rule => rule.id === item).map(rule => ({ machine, rule }))
  )[0]
  if (item === 'new') return <Editor rule={undefined} machine={undefined} />
  if (found === undefined) return <p class="lead">{known.size === 0 ? words.asking : words.gone}</p>
  return <Editor key={found.rule.id} {...found} />
}

function Editor(props: { rule: ApprovalRule | undefined; machine: string | undefined }) {
  const machines = [...home.value.machines.values()].filter(machine => keeperOf(machine, home.value) !== undefined)
  const [machine, setMachine] = useState(props.machine ?? machines[0]?.id)
  const [text, setText] = useState<RuleText>(() =>
    ruleTextOf(props.rule, machines.find(({ id }) => id === machine)?.metadata?.homeDir, trueNow())
  )
  const [fault, setFault] = useState<string>()
  const [trouble, setTrouble] = useState<string>()
  const { isBusy, run } = useBusy()
  const chosen = machines.find(({ id }) => id === machine)
  const link = live.value
  const keeper = chosen && keeperOf(chosen, home.value)
  if (chosen === undefined || keeper === undefined || link === undefined) return <p class="lead">{words.noneThere}</p>
  const book = rulesOf(link, keeper)
  const host = nameOfMachine(chosen)
  const leave = () => go({ name: 'settings', page: 'rules' }, 'replace')
  const save = () =>
    run(async () => {
      const here = account.peek()
      const { rule } = props
      const draft = { ...draftOf(text, trueNow()), id: rule?.id, ...(rule?.session !== undefined && { session: rule.session }) }
      try {
        await book.set(draft, here.type === 'here' ? here.deviceName : undefined)
        leave()
      } catch (error) {
        setTrouble(error instanceof Error ? error.message : String(error))
      }
    })
  return (
    <>
      {props.rule === undefined && (
        <>
          {machines.length > 1 && (
            <Pick
              label={words.machine}
              value={chosen.id}
              options={machines.map(each => [each.id, nameOfMachine(each)])}
              onChange={setMachine}
            />
          )}
          <Subjects value={text.on} onChange={on => setText({ ...text, on })} />
        </>
      )}
      <RuleFields key={chosen.id} rule={text} onChange={setText} onTry={book.attempt} onFault={setFault} />
      {props.rule && <Made rule={props.rule} host={host} />}
      {trouble !== undefined && <Problem title={words.notSaved(host)} text={trouble} />}
      <Button
        look="primary"
        isLarge
        isWide
        isOff={fault !== undefined || text.pattern.trim() === ''}
        busy={isBusy && words.saving}
        onClick={() => void save()}
      >
        {words.save}
      </Button>
      {props.rule && (
        <RemoveButton
          onRemove={async () => {
            await book.remove(props.rule?.id ?? '').then(leave, error => setTrouble(String(error)))
          }}
        />
      )}
    </>
  )
}

function Made({ rule: { madeBy, madeAt, used, session }, host }: { rule: ApprovalRule; host: string }) {
  const when = clockTime(madeAt, trueNow())
  const facts = [host, session === undefined ? undefined : words.oneSession, words.used(used)].filter(part => part !== undefined)
  return (
    <p class="hint">
      {lists.sentence(madeBy === undefined ? words.made(when) : words.madeBy(madeBy, when))} {facts.join(' · ')}
    </p>
  )
}

function RemoveButton({ onRemove }: { onRemove(): Promise<void> }) {
  const { isBusy, run } = useBusy()
  return (
    <Button look="danger" isWide busy={isBusy && words.removing} onClick={() => void run(onRemove)}>
      {words.remove}
    </Button>
  )
}

const subjects: readonly RuleSubject[] = ['command', 'change', 'read', 'page', 'tool']

function Subjects({ value, onChange }: { value: RuleSubject; onChange(on: RuleSubject): void }) {
  return (
    <Pick
      label={words.ruleNew}
      value={value}
      options={subjects.map(on => [on, words.on[on]])}
      onChange={next => onChange(subjects.find(on => on === next) ?? 'command')}
    />
  )
}
