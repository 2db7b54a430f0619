import type { Fetch } from '../../client/link/rest.ts'
import type { MessageBody, PartialFrame } from '../../protocol/sealed/messages.ts'
import type { AgentState, SessionMetadata } from '../../protocol/sealed/session.ts'
import type { Credentials, Home } from '../home/credentials.ts'
import type { Notice } from '../home/notice-queue.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { UplinkLineOptions } from './line.ts'
import type { LinkState } from './link-state.ts'
import type { Preview } from './preview.ts'
import type { SessionAttachments } from './session-attachments.ts'

export interface UplinkOptions extends Pick<UplinkLineOptions, 'handlers' | 'onMessage' | 'onOwn' | 'onForged' | 'onFault' | 'onLeftOut'> {
  home: Pick<Home, 'path' | 'machineId' | 'credentials' | 'noteRenewal'>
  credentials: Credentials
  folder: SessionFolder
  fetch: Fetch
  /** Another client wrote new metadata. */
  onMetadata?: ((metadata: SessionMetadata) => void) | undefined
  /** The server will never take a change of the state or the metadata. */
  onRefused?: ((why: string) => void) | undefined
  /** See `UplinkOpeningOptions`. */
  onNumberedAnew?: (() => void) | undefined
  /** The link, or the number of messages that wait, is another. */
  onChange?: (() => void) | undefined
  /** Too much waits: that many messages that can be done without were dropped. */
  onDropped?: ((count: number) => void) | undefined
  /** Bytes that may wait; 256 MiB unless told. */
  limitBytes?: number | undefined
}

/**
 * The way of one session to the server. It works from the first moment, with or without a server: what is put is on disk
 * when `put` resolves and reaches the server some day, in order; state is told as soon as there is somebody to tell it to.
 */
export interface Uplink {
  /** The server's id of the session, once it was opened there. */
  readonly session: string | undefined
  readonly link: LinkState
  /** Messages on disk that the server does not have yet. */
  readonly waiting: number
  /** Set when the server takes no message of the session any more, and cannot be told either. */
  readonly trouble: string | undefined
  /** See `Outbox.put`. */
  put(body: MessageBody, localId?: string, how?: { beyondLimit?: boolean }): Promise<void>
  /** False when it did not leave: there is no link, or it is busy. */
  showPartial(frame: PartialFrame): boolean
  /** Resolves when every message that the server had was heard, at once if nothing is being read. */
  caughtUp(): Promise<void>
  setThinking(thinking: boolean): void
  /** Has the server tell apps and phones; `preview` is sealed for the account's devices. Rejects when it did not take it. */
  notify(notice: Notice, preview?: Preview): Promise<void>
  /** The agent has the messages up to this one. */
  tellRead(seq: number): void
  readonly attachments: SessionAttachments
  /** Who drives the agent. */
  setControl(by: 'terminal' | 'phone'): void
  /** `change` must be pure; it is applied again to what others wrote meanwhile. */
  changeState(change: (state: AgentState) => AgentState): void
  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void
  /** Delivers what waits, marks the session as ended, and closes. False when something is left for another process. */
  end(within: { ms: number; signal?: AbortSignal | undefined }): Promise<boolean>
  /** Closes at once; what waits stays on disk. */
  close(): Promise<void>
}
