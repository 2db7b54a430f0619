import type { Answered, OpenRequest } from '../../model/decisions/decisions.ts'
import type { Item, Step } from '../../model/transcript/items.ts'
import { commandOf, contentOfArgs, kindOf, pathOf } from '../../model/transcript/steps.ts'

type Asked = Pick<Answered, 'call' | 'tool' | 'args'>

/**
 * Happy's wrappers give a step and its permission two unrelated ids. Once joined, a denied step
 * is shown as denied and not as done. Known pairs stay as they are.
 */
export function joinAnswered(
  items: readonly Item[],
  answered: readonly Answered[]
): { items: readonly Item[]; answered: readonly Answered[] } {
  const calls = new Set<string>()
  for (const item of items) if (item.type === 'step') calls.add(item.call)
  const from = items[0]?.at ?? Number.POSITIVE_INFINITY
  const isUnknown = ({ at, call, said }: Answered) => said === undefined && at >= from && (call === undefined || !calls.has(call))
  const unknown = answered.filter(isUnknown)
  if (unknown.length === 0) return { items, answered }
  const taken = new Set(answered.flatMap(({ call }) => call ?? []))
  const callById = new Map<string, string>()
  const denied = new Set<string>()
  for (const each of unknown.toSorted((a, b) => a.at - b.at)) {
    const step = stepOf(
      each,
      items,
      ({ call, at, endedAt }) => !taken.has(call) && at <= each.at && (endedAt ?? Number.POSITIVE_INFINITY) >= each.at
    )
    if (step === undefined) continue
    taken.add(step.call)
    callById.set(each.id, step.call)
    if (each.outcome === 'denied' || each.outcome === 'stopped') denied.add(step.call)
  }
  if (callById.size === 0) return { items, answered }
  return {
    items: denied.size === 0 ? items : items.map(item => (item.type === 'step' && denied.has(item.call) ? deniedStep(item) : item)),
    answered: answered.map(each => ({ ...each, call: callById.get(each.id) ?? each.call }))
  }
}

/** Without the reasons that are in the conversation because the wrapper sent them as a message. */
export function withReasonsOnce(answered: readonly Answered[], items: readonly Item[]): readonly Answered[] {
  const said = items.flatMap(item => (item.type === 'mine' && item.from === 'decision' ? item.text : []))
  if (said.length === 0) return answered
  const isSaid = (reason: string) => said.some(text => text.endsWith(`: ${reason}`))
  return answered.map(each => (each.reason && isSaid(each.reason) ? { ...each, reason: undefined } : each))
}

/** The step for which a permission is open. */
export function callOfRequest(request: OpenRequest, items: readonly Item[]): string | undefined {
  if (request.toolUseId !== undefined) return request.toolUseId
  const asked = { call: undefined, tool: request.tool, args: request.arguments }
  return stepOf(asked, items, ({ state }) => state === 'running')?.call
}

function stepOf(asked: Asked, items: readonly Item[], isIt: (step: Step) => boolean): Step | undefined {
  const kind = kindOf(asked.tool)
  const about = subjectOf(asked.tool, argsOf(asked.args))
  const step = items.findLast(
    item => item.type === 'step' && item.kind === kind && isIt(item) && isSame(about, subjectOf(item.name, item.args) ?? item.locations[0])
  )
  return step?.type === 'step' ? step : undefined
}

// Some send a request without its subject.
function isSame(asked: string | undefined, done: string | undefined): boolean {
  return asked === undefined || done === undefined || asked === done
}

function subjectOf(name: string, args: Step['args']): string | undefined {
  return commandOf(args) ?? pathOf(args) ?? contentOfArgs(name, args).find(each => each.type === 'diff')?.path
}

function argsOf(args: unknown): Step['args'] {
  return typeof args === 'object' && args !== null ? { ...args } : {}
}

/** Such a wrapper reports no result; a reported result is kept. */
function deniedStep(step: Step): Step {
  const known = deniedSteps.get(step)
  if (known !== undefined || step.state === 'ok') return known ?? step
  const denied: Step = { ...step, state: 'denied' }
  deniedSteps.set(step, denied)
  return denied
}

// Equal input returns the same object, so that the screen does not change.
const deniedSteps = new WeakMap<Step, Step>()
