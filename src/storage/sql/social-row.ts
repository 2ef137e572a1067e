import type { SocialId, Username } from '../../domain/ids.ts';
import type { Social, SocialChannel, SocialState } from '../../domain/socials/social.ts';
import { detailsFrom } from './details.ts';

/** A row of the table socials. */
export interface SocialRow {
  readonly id: string;
  readonly sender: string;
  readonly recipient: string;
  readonly status: string;
  readonly created_at: number;
  readonly details: string;
}

/** The columns of SocialRow. */
export const socialColumns = 'id, sender, recipient, status, created_at, details';

interface SocialDetails {
  readonly channel: SocialChannel;
  readonly message: string;
  readonly reason?: string;
}

export function socialToRow(social: Social): SocialRow {
  const { id, sender, recipient, status, createdAt, ...details } = social;
  return {
    id,
    sender,
    recipient,
    status,
    created_at: createdAt,
    details: JSON.stringify(details satisfies SocialDetails),
  };
}

export function socialFromRow(row: SocialRow): Social {
  const details = detailsFrom<SocialDetails>(row.details);
  return {
    // Rows hold what parsed ids were written from, and a reason where the message failed.
    id: row.id as SocialId,
    sender: row.sender as Username,
    recipient: row.recipient as Username,
    createdAt: row.created_at,
    ...({ ...details, status: row.status } as SocialDetails & SocialState),
  };
}
