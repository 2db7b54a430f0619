import { useEffect, useRef, useState } from 'preact/hooks'
import { stepUp } from '../../core/lock.ts'
import { Icon } from '../../ui/icons/icon.tsx'
import { session as words } from '../../words/session.ts'

/**
 * For actions that possession of the device must not suffice for: asks for the screen lock first if the app lock requires it. Nothing is done once
 * the component that asked is gone.
 */
export function useStepUp(): { isRefused: boolean; surely(then: () => void): Promise<void> } {
  const [isRefused, setRefused] = useState(false)
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
    },
    []
  )
  return {
    isRefused,
    async surely(then) {
      const isSure = await stepUp()
      if (isGone.current) return
      setRefused(!isSure)
      if (isSure) then()
    }
  }
}

export function LockRefused() {
  return (
    <p class="problem" role="alert">
      <Icon name="circle-alert" />
      <span>{words.lockRefused}</span>
    </p>
  )
}
