import type { Choice } from '../../../lib/protocol/sealed/session.ts'
import type { AskedChoice, AskedChoices } from '../../model/session/choices.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'

/** The current mode and model, which opens the others. Absent if the agent reports none. */
export function ModeButton({ facts, asked, onOpen }: { facts: SessionFacts; asked: AskedChoices; onOpen(): void }) {
  if (!hasChoices(facts)) return null
  const mode = facts.modes.find(({ code }) => code === standing(asked.mode, facts.mode))
  const model = facts.models.length > 1 ? facts.models.find(({ code }) => code === standing(asked.model, facts.model)) : undefined
  const all = Object.values(asked).flatMap(choice => choice ?? [])
  const pending = asked.mode?.state === 'asking' ? 'mode' : asked.model?.state === 'asking' ? 'model' : undefined
  return (
    <>
      <button
        class={`pill ${all.some(({ state }) => state === 'asking') ? 'busy' : ''}`}
        type="button"
        aria-haspopup="dialog"
        onClick={onOpen}
      >
        {/* Next to a pending mode there is no space for the model on a phone. */}
        {(model === undefined || (mode !== undefined && pending !== 'model')) && (
          <>
            <Icon name="shield-check" />
            <span>{mode === undefined ? words.mode : modeName(mode).name}</span>
          </>
        )}
        {model !== undefined && pending !== 'mode' && <span class="pill-m">{visible(model.value)}</span>}
        {pending !== undefined && <span role="status">· {compose.applying}</span>}
        <Icon name="chevron-down" class="chev" />
      </button>
      {all.some(({ state }) => state === 'failed') && (
        <span class="pill bad" role="alert">
          {compose.notChanged(facts.host)}
        </span>
      )}
    </>
  )
}

export function hasChoices(facts: SessionFacts): boolean {
  return (
    facts.presence === 'here' &&
    [facts.modes, facts.models, facts.efforts, ...facts.settings.map(({ choices }) => choices)].some(choices => choices.length > 1)
  )
}

/** The pending choice unless refused, otherwise the current one. */
export function standing(asked: AskedChoice | undefined, now: string | undefined): string | undefined {
  return asked !== undefined && asked.state !== 'failed' ? asked.code : now
}

/** Afield's name for a mode of an agent if there is one, otherwise the agent's own. */
export function modeName(mode: Choice): { name: string; about: string; isAuto: boolean } {
  const known = knownModes[mode.code.toLowerCase().replaceAll(/[-_]/g, '')]
  const isAuto = known === 'auto'
  if (known === undefined) return { name: visible(mode.value), about: visible(mode.description ?? ''), isAuto }
  const [name, about] = words.modes[known]
  return { name, about, isAuto }
}

const knownModes: Readonly<Record<string, keyof typeof words.modes>> = {
  default: 'ask',
  ask: 'ask',
  manual: 'ask',
  normal: 'ask',
  acceptedits: 'edit',
  autoedit: 'edit',
  plan: 'plan',
  readonly: 'plan',
  bypass: 'auto',
  bypasspermissions: 'auto',
  yolo: 'auto',
  fullaccess: 'auto',
  dangerfullaccess: 'auto',
  agentfullaccess: 'auto'
}
