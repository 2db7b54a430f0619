import { useState } from 'preact/hooks'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { signOut } from '../state/account.ts'
import { stepUp } from '../state/lock.ts'
import { joining } from '../words/joining.ts'

/** For a device whose sign-in the server ended: the key that stayed goes only by this. */
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
