import HealthModel
import HealthStore
import SQLite

/// A sample of the observer's store that isn't deleted, as readers of the store see it, however it is stored.
struct HeldSample {
    var id: SampleID
    var type: String
    var sequence: Int64
    /// Microseconds.
    var start: Int64
    var duration: Int64
    var value: Double
}

extension TestStack {
    /// The observer's samples that aren't deleted, in the order of their sequence.
    func heldSamples() throws -> [HeldSample] {
        try read("observer") { database in
            let all = PullLimits(rows: .max, bytes: .max, scanned: .max)
            let page = try HealthStoreReader(database: database).anchored(
                TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning)), limits: all
            ).samples
            return page.ids.indices.filter { !page.flags[$0].contains(.deleted) }.map { row in
                HeldSample(
                    id: page.ids[row], type: page.types[Int(page.type[row])], sequence: page.sequence[row],
                    start: page.start[row], duration: page.end[row] - page.start[row], value: page.value[row])
            }
        }
    }
}
