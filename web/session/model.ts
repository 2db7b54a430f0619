import { computed } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import { account, live } from '../model/account/account.ts'
import { home, sessionOf } from '../model/home.ts'
import { openSession } from '../model/session/session.ts'

/** The model of a session while part of it is on screen. Undefined until there is a link. */
export function useSessionModel(id: string) {
  const link = live.value
  const here = account.value
  const me = here.type === 'here' ? here.deviceName : undefined
  const session = useMemo(() => sessionOf(id), [id])
  const machine = useMemo(() => computed(() => home.value.machines.get(session.value?.metadata?.machineId ?? '')), [session])
  const model = useMemo(
    () => link && openSession({ id, live: link, session, machine, isLinked: computed(() => !isStale.value), me }),
    [id, link, session, machine, me]
  )
  useEffect(() => () => model?.close(), [model])
  return { link, session, machine, model }
}
