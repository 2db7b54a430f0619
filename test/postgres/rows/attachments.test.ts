import t from 'tap'
import { attachmentContract } from '../../store/contract/attachments.ts'
import { proveParts } from '../contract.ts'

proveParts(t, attachmentContract)
