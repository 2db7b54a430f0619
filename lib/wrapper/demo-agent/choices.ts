import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import type { DemoSession } from './sessions.ts'

const models = [
  { value: 'quick', name: 'Quick', description: 'Writes at once.' },
  { value: 'careful', name: 'Careful', description: 'Takes its time, so that you can watch.' }
]
const efforts = [
  { value: 'low', name: 'Low', description: 'Does not think aloud.' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High', description: 'Thinks twice. Only the careful model does.' }
]

const modes = [
  { value: 'default', name: 'Ask first', description: 'Asks before it changes a file or runs a command.' },
  { value: 'acceptEdits', name: 'Edit freely', description: 'Changes files without asking.' },
  { value: 'plan', name: 'Plan only', description: 'Says what it would do and changes nothing.' }
]

export const firstChoices = { model: 'careful', effort: 'medium' }

/** The modes as programs took them before there were configuration options, and as some still do. */
export function sessionModes({ mode }: Pick<DemoSession, 'mode'>): SessionModeState {
  return { currentModeId: mode, availableModes: modes.map(({ value, ...words }) => ({ id: value, ...words })) }
}

/** In which mode, which model and how much thought: of what a real agent offers, the part that the demo can show. */
export function configOptions(session: Pick<DemoSession, 'mode' | 'model' | 'effort'>): SessionConfigOption[] {
  const common = { type: 'select' as const }
  return [
    { ...common, id: 'mode', name: 'Mode', category: 'mode', currentValue: session.mode, options: modes },
    { ...common, id: 'model', name: 'Model', category: 'model', currentValue: session.model, options: models },
    { ...common, id: 'effort', name: 'Effort', category: 'thought_level', currentValue: session.effort, options: effortsOf(session) }
  ]
}

/** False when there is no such choice. */
export function choose(session: DemoSession, option: string, value: unknown): boolean {
  if (option === 'mode' && modes.some(mode => mode.value === value)) session.mode = String(value)
  else if (option === 'model' && models.some(model => model.value === value)) session.model = String(value)
  else if (option === 'effort' && effortsOf(session).some(effort => effort.value === value)) session.effort = String(value)
  else return false
  if (!effortsOf(session).some(effort => effort.value === session.effort)) session.effort = 'medium'
  return true
}

function effortsOf({ model }: Pick<DemoSession, 'model'>) {
  return model === 'careful' ? efforts : efforts.filter(({ value }) => value !== 'high')
}
