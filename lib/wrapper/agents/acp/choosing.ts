import { openedSession } from './messages.ts'
import { isGone } from './opening.ts'
import type { createOptions, OptionKind, OptionRequest } from './options.ts'

type Options = ReturnType<typeof createOptions>

/** Asks an ACP agent to choose otherwise, as people want it. */
export function createChoosing({
  options,
  ask,
  openAgain
}: {
  options: Options
  ask(request: OptionRequest): Promise<unknown>
  /** The agent does not know its conversation any more. Resolves to whether it has it again. */
  openAgain(): Promise<boolean>
}) {
  const set = async (request: OptionRequest): Promise<true> => {
    const { data } = openedSession.safeParse(await ask(request))
    // With another model there may be other levels of thought.
    if (data) options.take(data)
    return true
  }
  const trySet = async (request: OptionRequest | undefined, note: () => void): Promise<boolean> => {
    if (!request) return false
    const isSet = await set(request).catch(async error => isGone(error) && (await openAgain()) && (await set(request).catch(() => false)))
    if (isSet) note()
    return isSet
  }
  /** Set even when it is said to be the current one: an agent may begin in another than it tells. */
  const choose = (kind: OptionKind, id: string) => trySet(options.request(kind, id), () => options.note(kind, id))
  const chooseSetting = (id: string, value: string) => trySet(options.settingRequest(id, value), () => options.noteSetting(id, value))

  return {
    choose,
    chooseSetting,

    /** Asked for what is so already: that its program has ended, an agent may say only of what comes after that. */
    async isGone(): Promise<boolean> {
      const mode = options.of('mode')?.current
      const request = mode === undefined ? undefined : options.request('mode', mode)
      return request !== undefined && (await set(request).then(() => false, isGone))
    },

    /** As it was chosen before, all but the mode. */
    async restore({ model, effort, settings }: Options['chosen']): Promise<void> {
      if (model !== undefined) await choose('model', model)
      if (effort !== undefined) await choose('effort', effort)
      for (const [id, value] of settings) await chooseSetting(id, value)
    }
  }
}
