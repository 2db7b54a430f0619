import { useEffect, useState } from 'preact/hooks'
import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { StartLog } from './start-log.tsx'

const slowAfterMs = 5_000

/** What the resumption of a session says on its machine, once that takes long. */
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
