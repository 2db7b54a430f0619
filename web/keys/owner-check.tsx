import { useState } from 'preact/hooks'
import { lockChoice, stepUp } from '../core/lock.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { settings } from '../words/settings.ts'

interface Owner {
  /** Whoever holds the device has shown to be its owner, or nothing here asks for that. */
  isSure: boolean
  isRefused: boolean
  isBusy: boolean
  ask(): Promise<void>
}

/** For what only the owner of this device may see or hand out: where a screen lock is set, it is asked for once on this screen. */
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

/** Stands in place of it until then. */
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
