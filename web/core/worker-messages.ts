/** Requests of the service worker to an open page. The page answers on the port sent along, once it is done. */
export type WorkerMessage =
  | { type: 'open'; path: string }
  /** The app may be visible: show this in the page instead of a notification. */
  | ({ type: 'alert' } & Alert)

export interface Alert {
  readonly title: string
  readonly body: string
  readonly path: string
  readonly isSilent: boolean
}

/** The target of a test: the page from which it was sent. */
export const testPath = '/settings/notifications'
