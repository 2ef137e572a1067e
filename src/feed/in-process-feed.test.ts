import { feedContract } from '../../test/contract/feed/feed-contract.ts';
import { createInProcessFeed } from './in-process-feed.ts';

feedContract(createInProcessFeed);
