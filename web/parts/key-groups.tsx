import { useEffect, useState } from 'preact/hooks'
import { account } from '../state/account.ts'
import { bytesOf } from '../state/base64.ts'
import { groupsOf } from '../state/key-text.ts'
import { words } from '../words/index.ts'

/** The key in its eleven groups, numbered as one reads them aloud. Covered while nobody looks, so that no picture of the app shows it. */
export function KeyGroups({ value, isShown }: { value: string | undefined; isShown: boolean }) {
  if (value === undefined) return <div class="key-groups" aria-busy="true" />
  return (
    <ol class={`key-groups ${isShown ? '' : 'covered'}`} aria-label={words.key.label} translate={false}>
      {groupsOf(value).map((group, index) => (
        <li key={group + index}>
          <span aria-hidden="true">{index + 1}</span>
          <code>{isShown ? group : '·····'}</code>
        </li>
      ))}
    </ol>
  )
}

/** The account key of this device as text; undefined until the crypto has loaded. */
export function useKeyText(): string | undefined {
  const here = account.value
  const secret = here.type === 'here' ? here.secret : undefined
  const [key, setKey] = useState<string>()
  useEffect(() => {
    if (secret === undefined) return
    let isGone = false
    void import('../state/account-key.ts').then(({ formatBackupKey }) => {
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
