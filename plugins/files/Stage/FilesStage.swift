import Changelog
import Configuration
import DeliveryKit
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Keeps samples, days, nights and workouts as files: marks those that a change touches, and rewrites each from the
/// content of the observer, the handlers and the consolidator.
///
/// A file depends only on their content. A file's mark is committed with the anchor, and removed only once the file is
/// on disk; so the files end up right no matter what is killed and when.
package final class FilesStage: Stage {
    let samples: Upstream
    let documents: [Upstream]
    let consolidator: String?
    /// The folder for the files; nil for the one in the instance's own folder.
    let folder: String?
    let layout: FilesLayout
    let figures: [FigureDeclaration]
    /// The metric that a type's samples count towards.
    let family: (String) -> String
    var marks: FileMarks
    var ledger = FileLedger()
    /// Files being written.
    var jobs: [FileJob] = []
    var lastJob: Int64 = 0
    var check = FilesCheck()
    var proof = FilesProof()
    /// The result of the last proof, and when the next one is due.
    var proved: ProofSummary?
    var nextProof: Instant?
    let instance: String
    var manifest = FilesManifest()
    var blocked: String?
    /// Files that can't be written while the others can, and why.
    var stuck: [String: String] = [:]
    /// Whether writing has failed, so that only writing shows that nothing blocks any more.
    var isWritingBlocked = false
    var retry = MonotonicTime.distantPast
    var backOff = BackOff(Duration.seconds(1), upTo: FilesStage.longestRetry)
    /// The number of rows in the files that were last rewritten on request.
    var replayedRows: Int64 = 0
    private var standstill = Standstill()
    private var lastChecked: Instant?
    /// The last announced chunk of a historical sync.
    private var replay: String?
    private let releaseTopic: String
    private let controlTopic: String

    /// While one file is being written, another is fetched.
    static let concurrentJobs = 2
    static let backfillBeyond: Int64 = 200_000
    static let longestRetry = Duration.seconds(60)

    /// - Parameters:
    ///   - handlers: instances whose nights and workouts are kept.
    ///   - folder: the folder for the files; nil for the one in the instance's own folder.
    ///   - settle: a file is written once nothing in it has changed for this long.
    package init(
        observer: String, handlers: [String], consolidator: String?, instance: String, folder: String? = nil,
        layout: FilesLayout, figures: [FigureDeclaration], settle: Duration, family: @escaping (String) -> String
    ) {
        samples = Upstream(observer, query: .samples(layout.types), backfillBeyond: Self.backfillBeyond, polls: false)
        documents = Upstream.documents(consolidator: consolidator, handlers: handlers)
        (self.consolidator, self.instance, self.folder, self.layout) = (consolidator, instance, folder, layout)
        (self.figures, self.family) = (figures, family)
        marks = FileMarks(settle: settle)
        releaseTopic = Release.topic(instance)
        controlTopic = "control.\(instance)"
    }

    package var subscriptions: [Subscription] {
        [.exact(releaseTopic), .exact(controlTopic)] + documents.map { .exact(Heartbeat.topic($0.producer)) }
    }

    var upstreams: [Upstream] { documents + [samples] }

    package func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try DeliveryTables.createTables(in: database)
        try FileMarks.createTables(in: database)
        try FileLedger.createTables(in: database)
        try Self.kept.create(in: database)
        try ledger.open(turn)
        try marks.open(turn)
        for upstream in upstreams { try upstream.open(turn) }
        try openFolder(turn)
        try openLayout(turn)
        try openProof(turn)
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic == releaseTopic {
            guard let release = message.body.read(Release.self) else { return }
            samples.hear(release.head, limit: release.released, off: Set(release.off), turn)
            lastChecked = turn.now
            // Files contain each sample once, as it is, so samples that are merely reported again don't require
            // rewriting.
            replay = release.replay?.id ?? replay
        } else if message.topic == controlTopic {
            hear(command: message.body)
        } else if let beat = Heartbeat(message), let head = beat.head,
            let upstream = documents.first(where: { $0.producer == beat.instance })
        {
            upstream.hear(head, limit: AnchorVector(base: head.sequence), turn)
        }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        if try receive(written: answer, turn) || receive(expected: answer, turn) { return }
        for upstream in upstreams {
            let isSamples = upstream === samples
            let isTaken = try upstream.accept(
                answer, turn,
                reset: { _ in try markAll(of: upstream, turn) },
                apply: { page in
                    if isSamples {
                        try mark(page.page(SamplesPage.self, from: upstream.producer), turn)
                    } else {
                        try mark(page.page(ChangesPage.self, from: upstream.producer), from: upstream, turn)
                    }
                })
            if isTaken { return }
        }
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        for upstream in upstreams { upstream.pump(turn) }
        let times = [try moveWriting(turn), try alertOfDelay(turn)]
        return times.compactMap { $0 }.min()
    }

    /// What can't be written, and what to do now; nil if everything can.
    var whatBlocks: String? { blocked ?? stuck.min { $0.key < $1.key }?.value }

    private func alertOfDelay(_ turn: Turn) throws -> MonotonicTime? {
        guard whatBlocks != nil else {
            if standstill.end() { try turn.clear(.degraded, subject: "delivery") }
            return nil
        }
        return try standstill.alert(
            "No files have been written for a while, though some are waiting.",
            remedy: "Look at 'healthbus status': it says what blocks them.", turn)
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.pending = marks.count
        if marks.count == 0 { common.consumed = samples.consumedByType }
        common.replay = replay.map { ReplayProgress(id: $0, left: 0) }
        var own = UploaderDetails(
            delivered: ledger.delivered, lastDelivered: ledger.lastDelivered, blocked: whatBlocks,
            backend: check.report(why: whatBlocks, isListed: manifest.state == .complete),
            waiting: jobs.count { !$0.proves })
        own.proof = proved
        var frontier: [String: SequenceNumber] = [:]
        for upstream in upstreams {
            let oldest = marks.oldestMark(of: upstream.producer)
            frontier[upstream.producer] = min(upstream.frontier, oldest ?? .end)
        }
        return StageReport(
            frontier: frontier, details: HeartbeatDetails(own, common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: lastChecked)))
    }
}
