import { useEffect, useState } from 'preact/hooks'
import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { StartLog } from './start-log.tsx'

const slowAfterMs = 5_000

/** The log of resuming a session on its machine, shown if that is slow. */
export function ResumeLog({ id, host }: { id: string; host: string }) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), slowAfterMs)
    return () => clearTimeout(timer)
  }, [])
  const link = live.value
  const machine = home.value.sessions.get(id)?.metadata?.machineId
  return isSlow && link && machine !== undefined ? <StartLog link={link} machine={machine} start={id} host={host} /> : null
}
