import t from 'tap'
import { noticeContract } from '../../store/contract/notices.ts'
import { proveParts } from '../contract.ts'

proveParts(t, noticeContract)
