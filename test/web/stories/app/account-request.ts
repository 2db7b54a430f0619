import type { askForAccount as realAskForAccount } from '../../../../web/join/account-request.ts'

// Stands in for a new device that requests an account.
export const askForAccount: typeof realAskForAccount = async ({ forHappy }) => ({
  link: `${location.origin}/pair#device=mqhE2xQ8yTf7pZrN0aLwKdVbJcUsGi1o3Xl5Yk9HtA4`,
  checkCode: forHappy ? undefined : '4812',
  wait: () => new Promise(() => {})
})
