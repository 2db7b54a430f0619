import { useEffect, useState } from 'preact/hooks'
import { bytesOf } from '../core/base64.ts'
import { account } from '../model/account/account.ts'
import { useAnswer } from '../ui/behavior/answer.ts'

/** The account key of this device as text; undefined until the crypto has loaded. */
export function useKeyText(): string | undefined {
  const here = account.value
  const secret = here.type === 'here' ? here.secret : undefined
  return useAnswer(secret !== undefined && (async () => (await import('../model/account/key.ts')).formatBackupKey(bytesOf(secret))), [
    secret
  ]).value
}

/** False while the app is in the background. */
export function useIsShown(): boolean {
  const [isShown, setShown] = useState(document.visibilityState === 'visible')
  useEffect(() => {
    const see = () => setShown(document.visibilityState === 'visible')
    const cover = () => setShown(false)
    document.addEventListener('visibilitychange', see)
    addEventListener('pagehide', cover)
    return () => {
      document.removeEventListener('visibilitychange', see)
      removeEventListener('pagehide', cover)
    }
  }, [])
  return isShown
}
