import { feedContract } from './contract/feed-contract.ts';
import { createInProcessFeed } from './in-process-feed.ts';

feedContract(createInProcessFeed);
