import Changelog
import HealthModel
import MessageBus
import Protocol

/// A file that is being written: what was asked for it, and what is still to be asked.
struct FileJob {
    enum Step {
        /// Samples or rows are on their way.
        case asked(Pull, Source)
        /// A piece is with the runner; then the next is asked for. nil: it was the last.
        case writing(effect: Int64, next: Source?)
    }

    /// Where the next rows come from.
    enum Source {
        case samples(SliceRequest, PullPlace)
        /// Producers that are still to be asked; of the first one everything after a sequence.
        case documents(producers: [String], topic: String, after: SequenceNumber, head: StoreHead?)
    }

    let number: Int64
    let span: FileSpan
    /// The mark's when it began: what changed since is written again.
    let generation: Int64
    var step: Step
    /// Whether the runner has a piece of it.
    var hasBegun = false
    var documents: DocumentCollection?
    let known: FileLedger.Entry?
}
