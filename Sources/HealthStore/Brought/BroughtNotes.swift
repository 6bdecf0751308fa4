import HealthModel

/// Reads who brought rows. Notes are kept for 4,096 neighbouring rows together, so this is cheap for rows in the order in
/// which they were first stored.
struct BroughtNotes {
    private let table: BroughtTable
    private let bringers: [Int]
    private let amongRepairs: Bool
    private var chunk = Int64.min
    private var notes = (theirs: BirthChunk(), others: BirthChunk())

    /// - Parameters:
    ///   - bringers: the origins that are distinguished from all others.
    ///   - amongRepairs: whether they are repairs, which bring nothing.
    init(_ table: BroughtTable, of bringers: [Int], amongRepairs: Bool = false) {
        (self.table, self.bringers, self.amongRepairs) = (table, bringers, amongRepairs)
    }

    /// Whether these origins brought the row that was first stored under that sequence, and whether any others did.
    mutating func origins(of born: SequenceNumber) throws -> (theirs: Bool, others: Bool) {
        if BirthChunk.number(born.value) != chunk {
            chunk = BirthChunk.number(born.value)
            notes = try amongRepairs ? table.births(at: chunk, of: bringers) : table.notes(at: chunk, of: bringers)
        }
        return (notes.theirs.contains(born.value), notes.others.contains(born.value))
    }
}
