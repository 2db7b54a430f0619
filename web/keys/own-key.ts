import { useEffect, useState } from 'preact/hooks'
import { bytesOf } from '../core/base64.ts'
import { account } from '../model/account/account.ts'

/** The account key of this device as text; undefined until the crypto has loaded. */
export function useKeyText(): string | undefined {
  const here = account.value
  const secret = here.type === 'here' ? here.secret : undefined
  const [key, setKey] = useState<string>()
  useEffect(() => {
    if (secret === undefined) return
    let isGone = false
    void import('../model/account/key.ts').then(({ formatBackupKey }) => {
      if (!isGone) setKey(formatBackupKey(bytesOf(secret)))
    })
    return () => {
      isGone = true
    }
  }, [secret])
  return key
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
