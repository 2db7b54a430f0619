import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'

/** The settings of a conversation. */
export interface Choices {
  mode: string
  model: string
  effort: string
}

const models = [
  { value: 'quick', name: 'Quick', description: 'Writes at once.' },
  { value: 'careful', name: 'Careful', description: 'Takes its time so that you can watch.' }
]
const efforts = [
  { value: 'low', name: 'Low', description: 'Does not think out loud.' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High', description: 'Thinks twice. Only the careful model does.' }
]

const modes = [
  { value: 'default', name: 'Ask first', description: 'Asks before it changes a file or runs a command.' },
  { value: 'acceptEdits', name: 'Edit freely', description: 'Changes files without asking.' },
  { value: 'plan', name: 'Plan only', description: 'Says what it would do and changes nothing.' }
]

export const firstChoices = { model: 'careful', effort: 'medium' }

/** The modes in the format before configuration options, which some programs still use. */
export function sessionModes({ mode }: Pick<Choices, 'mode'>): SessionModeState {
  return { currentModeId: mode, availableModes: modes.map(({ value, ...words }) => ({ id: value, ...words })) }
}

/** Mode, model and reasoning level: the part of a real agent's options that the demo can show. */
export function configOptions(choices: Choices): SessionConfigOption[] {
  const common = { type: 'select' as const }
  return [
    { ...common, id: 'mode', name: 'Mode', category: 'mode', currentValue: choices.mode, options: modes },
    { ...common, id: 'model', name: 'Model', category: 'model', currentValue: choices.model, options: models },
    { ...common, id: 'effort', name: 'Effort', category: 'thought_level', currentValue: choices.effort, options: effortsOf(choices) }
  ]
}

/** False if there is no such choice. */
export function choose(choices: Choices, option: string, value: unknown): boolean {
  if (option === 'mode' && modes.some(mode => mode.value === value)) choices.mode = String(value)
  else if (option === 'model' && models.some(model => model.value === value)) choices.model = String(value)
  else if (option === 'effort' && effortsOf(choices).some(effort => effort.value === value)) choices.effort = String(value)
  else return false
  if (!effortsOf(choices).some(effort => effort.value === choices.effort)) choices.effort = 'medium'
  return true
}

function effortsOf({ model }: Pick<Choices, 'model'>) {
  return model === 'careful' ? efforts : efforts.filter(({ value }) => value !== 'high')
}
