/** What the worker asks of a page that is there already. The page answers on the port that comes with it, once it has done so. */
export type WorkerMessage =
  | { type: 'open'; path: string }
  /** Somebody may be looking: said in the page, in place of a notification. */
  | ({ type: 'alert' } & Alert)

export interface Alert {
  readonly title: string
  readonly body: string
  readonly path: string
  readonly isSilent: boolean
}

/** Where a test leads: to the page from which it was sent. */
export const testPath = '/settings/notifications'
