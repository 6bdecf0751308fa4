import Changelog
import Client
import Configuration
import DeliveryKit
import HealthModel
import Logging
import Protocol

/// Reads what a stack holds, id by id, and how much of it has been delivered.
final class StoreVersions {
    struct Sample {
        var id: SampleID
        var held: HeldVersion
        /// The sequence number of its latest change, which is its version.
        var sequence: SequenceNumber { SequenceNumber(held.version) }
        /// Index into `types`.
        var type: Int
        /// The sample ended before the destination's `deliverSince`.
        var isOlder = false
    }

    private let reader: StackReader
    private let observer: StackConfiguration.Instance
    private let delivered: AnchorVector
    private let frontier: [String: SequenceNumber]
    private let leftOut: LeftOut
    /// The names of the types encountered so far.
    private(set) var types: [String] = []
    private var typeIndices: [String: Int] = [:]
    /// Whether each of them is left out.
    private var typesOff: [Bool] = []

    /// Determines how far delivery to a destination has progressed.
    init(_ stack: Stack, _ reader: StackReader, of destination: StackConfiguration.Instance) throws {
        self.reader = reader
        observer = try stack.instance(.observer)
        let uploader = destination.name
        let beats = try reader.gather([uploader, observer.name], within: 10)
        guard let beat = beats[uploader]?.beat else {
            throw Failure(
                "'\(uploader)' can't be heard on \(stack.place), so it is unknown what was delivered",
                hint: "look at 'healthbus status'")
        }
        frontier = beat.frontier
        delivered =
            beat.stage.consumed
            ?? AnchorVector(base: beat.frontier[observer.name] ?? .beginning)
        leftOut = try LeftOut(
            of: destination, in: stack.configuration, off: Set(beats[observer.name]?.beat.observer?.off ?? []))
    }

    /// Whether the uploader still has to deliver it.
    func isPending(_ sample: Sample) -> Bool { sample.sequence > delivered[types[sample.type]] }

    /// Whether it isn't delivered at present: it is too old, or its type isn't delivered.
    func isOff(_ sample: Sample) -> Bool { sample.isOlder || typesOff[sample.type] }

    /// The same for a night, a workout or a day.
    func isOff(_ row: KeyedChangelog.Row, of metric: UploadMetric) -> Bool {
        !leftOut.takes(documentsOf: metric, day: row.day)
    }

    func isPending(_ row: KeyedChangelog.Row, of producer: String) -> Bool {
        row.sequence > frontier[producer] ?? .beginning
    }

    /// Passes each of a user's samples to `body`, oldest change first, including tombstones, but not workouts, which
    /// are delivered as events.
    /// - Parameter withContents: whether to include the content number of each sample that isn't deleted.
    func forEachSample(user: String, withContents: Bool, _ body: (Sample) throws -> Void) throws {
        var after = SequenceNumber.beginning
        var head: StoreHead?
        while true {
            let pages: [Page<SamplesPage>] = try reader.pages(
                observer, .samples(.allExcept([HealthType.workoutIdentifier])), PullPlace(of: head, after: after))
            // If the observer hangs, its file is read directly, and it is unknown whether its store is still the same.
            // If it is running with a different generation by now, it gives an empty answer to a request that names a
            // store.
            let isSilent = reader.silent.contains(observer.name)
            let isReset = pages.isEmpty && head != nil && !isSilent
            guard !isSilent, !isReset, let last = pages.last, let through = last.through, let now = last.head
            else { throw isReset ? begunAnew : unanswered }
            if let head, head.store != now.store || head.generation != now.generation { throw begunAnew }
            for page in pages { try give(page.content, of: user, withContents, to: body) }
            head = head ?? now
            // Anything that arrives in the meantime isn't waited for.
            guard through > after, through < head?.sequence ?? .beginning else { return }
            after = through
        }
    }

    private var begunAnew: Failure {
        Failure("the store of '\(observer.name)' started over while it was being read", hint: "try again")
    }

    private var unanswered: Failure {
        Failure("'\(observer.name)' isn't responding", hint: "'healthbus doctor' shows what is stuck")
    }

    private func give(
        _ page: SamplesPage, of user: String, _ withContents: Bool, to body: (Sample) throws -> Void
    ) throws {
        let (samples, owners) = (page.samples, page.user)
        guard owners.count == samples.count else { throw StageError.unreadablePage(producer: observer.name) }
        guard let index = page.users.firstIndex(of: user) else { return }
        let types = samples.types.map { self.index(of: $0) }
        let typeNumbers = withContents ? samples.types.map { ContentNumber.text($0) } : []
        let sourceNumbers = withContents ? samples.origins.map { ContentNumber.text($0.sourceName) } : []
        for row in 0..<samples.count where Int(owners[row]) == index {
            var held = HeldVersion(
                version: samples.sequence[row], isDeleted: samples.flags[row].contains(.deleted))
            if withContents, !held.isDeleted {
                held.content = ContentNumber.sample(
                    type: typeNumbers[Int(samples.type[row])], start: samples.startOf(row), end: samples.endOf(row),
                    value: samples.value[row], source: sourceNumbers[Int(samples.origin[row])])
            }
            let isOlder = !leftOut.takes(sampleThatEnds: samples.endOf(row))
            try body(
                Sample(id: samples.ids[row], held: held, type: types[Int(samples.type[row])], isOlder: isOlder))
        }
    }

    private func index(of type: String) -> Int {
        if let index = typeIndices[type] { return index }
        typeIndices[type] = types.count
        types.append(type)
        typesOff.append(!leftOut.takes(type: type))
        return types.count - 1
    }

    /// How many samples a user has, including deleted ones but not workouts, and how many records are quarantined.
    func count(of user: String) throws -> (samples: Int, quarantined: Int) {
        var count = (samples: 0, quarantined: 0)
        let pages: [Page<TypesPage>] = try reader.pages(observer, .types)
        for row in pages.flatMap(\.types) where row.user == user {
            count.quarantined += row.quarantined
            if row.type == HealthType.workoutIdentifier { continue }
            count.samples += row.alive + row.deleted
        }
        return count
    }
}
