import { useState } from 'preact/hooks'
import { lockChoice, stepUp } from '../core/lock.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { settings } from '../words/settings.ts'

interface Owner {
  /** The person has been verified as the owner of this device, or there is no screen lock to ask for. */
  isSure: boolean
  isRefused: boolean
  isBusy: boolean
  ask(): Promise<void>
}

/** For what only the owner of this device may see or hand over: if a screen lock is set up, it is asked for once per screen. */
export function useOwner(): Owner {
  const [isSure, setSure] = useState(() => lockChoice.peek() === 'off')
  const [isRefused, setRefused] = useState(false)
  const { isBusy, run } = useBusy()
  const ask = () =>
    run(async () => {
      const has = await stepUp()
      setSure(has)
      setRefused(!has)
    })
  return { isSure, isRefused, isBusy, ask }
}

/** The button shown until then. */
export function AskOwner({ owner, label, isMain = false }: { owner: Owner; label: string; isMain?: boolean }) {
  return (
    <>
      {owner.isRefused && <Problem title={settings.lockRefused} text={settings.lockRefusedText} />}
      <Button
        look={isMain ? 'primary' : 'quiet'}
        icon="lock-keyhole"
        isLarge={isMain}
        isWide
        onClick={() => void owner.ask()}
        busy={owner.isBusy && settings.lockAsking}
      >
        {label}
      </Button>
    </>
  )
}
