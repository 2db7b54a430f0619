import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { useAfter } from '../../ui/behavior/after.ts'
import { StartLog } from './start-log.tsx'

const slowAfterMs = 5_000

/** The log of resuming a session on its machine, shown if that is slow. */
export function ResumeLog({ id, host }: { id: string; host: string }) {
  const isSlow = useAfter(slowAfterMs)
  const link = live.value
  const machine = home.value.sessions.get(id)?.metadata?.machineId
  return isSlow && link && machine !== undefined ? <StartLog link={link} machine={machine} start={id} host={host} /> : null
}
