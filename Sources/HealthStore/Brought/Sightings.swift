import HealthModel

/// Which imports contained a row, and when their exports were made. Notes are kept for 4,096 neighbouring rows
/// together, so this is cheap for rows in the order in which they were first stored.
struct Sightings {
    private let table: BroughtTable
    /// When the exports of a user's imports were made, by the imports' numbers, in µs since 1970.
    private let dates: [Int: Int64]
    private let files: Set<Int>
    private let since: Int64
    private var chunk = Int64.min
    private var notes: [(bringer: Int, births: BirthChunk)] = []

    init(_ table: BroughtTable, user: Int) throws {
        self.table = table
        (files, dates) = try table.imports(of: user)
        since = try table.since()
    }

    /// The numbers of all origins recorded for the row that was first stored under that sequence.
    mutating func bringers(of born: SequenceNumber) throws -> [Int] {
        if BirthChunk.number(born.value) != chunk {
            chunk = BirthChunk.number(born.value)
            notes = try table.notes(at: chunk)
        }
        return notes.filter { $0.births.contains(born.value) }.map(\.bringer)
    }

    /// The imports among them.
    mutating func imports(of born: SequenceNumber) throws -> [Int] {
        try bringers(of: born).filter(files.contains)
    }

    /// A row as a form of its measurements, with where it was seen.
    mutating func form(of row: StoredRow) throws -> SampleForm {
        var form = row.form
        form.imports = try imports(of: row.born)
        form.exported = newest(form.imports)
        return form
    }

    /// Whether anything still claims to have brought the row. The origin of rows from before this was recorded is
    /// unknown.
    mutating func isBacked(_ born: SequenceNumber) throws -> Bool {
        try born.value <= since || !bringers(of: born).isEmpty
    }

    /// When the newest of these imports' exports was made; `.min` if unknown.
    func newest(_ imports: [Int]) -> Int64 { imports.compactMap { dates[$0] }.max() ?? .min }

    /// The import whose export is the newest.
    func latest(_ imports: [Int]) -> Int? {
        imports.filter { dates[$0] != nil }.max { (dates[$0] ?? .min, $0) < (dates[$1] ?? .min, $1) }
    }
}
