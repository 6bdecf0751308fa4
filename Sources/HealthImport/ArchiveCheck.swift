import Foundation

/// What an archive's checksums show about its files, found by inflating everything before anything is imported.
///
/// A flipped byte may inflate to other well-formed text: values that nobody measured. Only the checksum at the file's
/// end shows that, and it doesn't show where. So a file whose checksum is wrong isn't read at all. An archive that was
/// cut off has no checksum for the file at the cut, but what comes before a cut is intact: that file is read as far as
/// it goes.
struct ArchiveCheck {
    /// With this many broken files the archive is abandoned: each costs a walk through the files before it.
    private static let limit = 1000

    /// By index among the archive's entries: why the file counts as broken.
    private(set) var broken: [Int: ArchiveDamage] = [:]

    /// - Throws: `ImportError`; damage that ends the archive early is left to its readers.
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
