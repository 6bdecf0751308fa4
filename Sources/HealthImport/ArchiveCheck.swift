import Foundation

/// What an archive's checksums show about its files; to find out, everything is inflated before anything is imported.
///
/// After a byte is flipped, the file may still inflate to well-formed text, with values that nobody measured. Only the
/// checksum at the file's end reveals that, and it doesn't show where the damage is. So a file whose checksum is wrong
/// isn't read at all. An archive that was cut off has no checksum for the file at the cut, but everything before the
/// cut is intact, so that file is read up to there.
struct ArchiveCheck {
    /// After this many broken files, the archive is abandoned, because checking past each one means walking through all
    /// files before it again.
    private static let limit = 1000

    /// Why each broken file counts as broken, by its index among the archive's entries.
    private(set) var broken: [Int: ArchiveDamage] = [:]

    /// - Throws: `ImportError`; damage that ends the archive early is left for the archive's readers to report.
    init(descriptor: Int32, path: String, size: Int64) throws {
        let isCut = ExportEnd.directoryEnd(descriptor, size: size) == nil
        var place = 0
        while let (broken, damage) = try Self.firstBroken(from: place, descriptor, path) {
            if isCut, damage.isEndOfInput { return }
            self.broken[broken] = damage
            guard self.broken.count < Self.limit else {
                throw ImportError.damagedArchive(path: path, reason: damage.reason)
            }
            place = broken + 1
        }
    }

    /// After damage, reading can't always continue, so each check opens the archive again.
    private static func firstBroken(
        from first: Int, _ descriptor: Int32, _ path: String
    ) throws -> (place: Int, damage: ArchiveDamage)? {
        do {
            let archive = try ZipArchive(descriptor: descriptor, path: path)
            while let entry = try archive.next() {
                guard entry.place >= first, entry.isFile, !entry.isEncrypted else { continue }
                do { try archive.readToEnd() } catch let damage as ArchiveDamage { return (entry.place, damage) }
            }
        } catch is ArchiveDamage {}
        return nil
    }
}
