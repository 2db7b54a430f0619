import { useState } from 'preact/hooks'
import { stepUp } from '../core/lock.ts'
import { signOut } from '../model/account/account.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { joining } from '../words/joining.ts'

/** For a device whose sign-in the server ended: the only way to remove the key that is still on it. */
export function KeyRemovalSheet({ onClose }: { onClose(): void }) {
  const [isRefused, setRefused] = useState(false)
  const { isBusy, run } = useBusy()
  const remove = async () => {
    if (await stepUp()) await signOut()
    else setRefused(true)
  }
  return (
    <Sheet title={joining.removal.title} onClose={onClose}>
      <p class="lead danger-t">{joining.removal.text}</p>
      {isRefused && <Problem title={joining.removal.notConfirmed} text={joining.removal.notConfirmedText} />}
      <Button look="danger" isLarge isWide onClick={() => void run(remove)} busy={isBusy && joining.removal.busy}>
        {joining.removal.confirm}
      </Button>
    </Sheet>
  )
}
