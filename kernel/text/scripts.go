package text

import (
	"fmt"
	"sort"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of UnicodeScript. The numbers are ICU's, for Unicode 13, and must
// stay.

// scriptCodes are ICU's numbers of the scripts.
var scriptCodes = map[string]int32{
	"Adlam": 167, "Ahom": 161, "Anatolian_Hieroglyphs": 156, "Arabic": 2, "Armenian": 3, "Avestan": 117, "Balinese": 62,
	"Bamum": 130, "Bassa_Vah": 134, "Batak": 63, "Bengali": 4, "Bhaiksuki": 168, "Bopomofo": 5, "Brahmi": 65,
	"Braille": 46, "Buginese": 55, "Buhid": 44, "Canadian_Aboriginal": 40, "Carian": 104, "Caucasian_Albanian": 159,
	"Chakma": 118, "Cham": 66, "Cherokee": 6, "Chorasmian": 189, "Common": 0, "Coptic": 7, "Cuneiform": 101,
	"Cypriot": 47, "Cypro_Minoan": 193, "Cyrillic": 8, "Deseret": 9, "Devanagari": 10, "Dives_Akuru": 190, "Dogra": 178,
	"Duployan": 135, "Egyptian_Hieroglyphs": 71, "Elbasan": 136, "Elymaic": 185, "Ethiopic": 11, "Georgian": 12,
	"Glagolitic": 56, "Gothic": 13, "Grantha": 137, "Greek": 14, "Gujarati": 15, "Gunjala_Gondi": 179, "Gurmukhi": 16,
	"Han": 17, "Hangul": 18, "Hanifi_Rohingya": 182, "Hanunoo": 43, "Hatran": 162, "Hebrew": 19, "Hiragana": 20,
	"Imperial_Aramaic": 116, "Inherited": 1, "Inscriptional_Pahlavi": 122, "Inscriptional_Parthian": 125,
	"Javanese": 78, "Kaithi": 120, "Kannada": 21, "Katakana": 22, "Kawi": 198, "Kayah_Li": 79, "Kharoshthi": 57,
	"Khitan_Small_Script": 191, "Khmer": 23, "Khojki": 157, "Khudawadi": 145, "Lao": 24, "Latin": 25, "Lepcha": 82,
	"Limbu": 48, "Linear_A": 83, "Linear_B": 49, "Lisu": 131, "Lycian": 107, "Lydian": 108, "Mahajani": 160,
	"Makasar": 180, "Malayalam": 26, "Mandaic": 84, "Manichaean": 121, "Marchen": 169, "Masaram_Gondi": 175,
	"Medefaidrin": 181, "Meetei_Mayek": 115, "Mende_Kikakui": 140, "Meroitic_Cursive": 141, "Meroitic_Hieroglyphs": 86,
	"Miao": 92, "Modi": 163, "Mongolian": 27, "Mro": 149, "Multani": 164, "Myanmar": 28, "Nabataean": 143,
	"Nag_Mundari": 199, "Nandinagari": 187, "New_Tai_Lue": 59, "Newa": 170, "Nko": 87, "Nushu": 150,
	"Nyiakeng_Puachue_Hmong": 186, "Ogham": 29, "Ol_Chiki": 109, "Old_Hungarian": 76, "Old_Italic": 30,
	"Old_North_Arabian": 142, "Old_Permic": 89, "Old_Persian": 61, "Old_Sogdian": 184, "Old_South_Arabian": 133,
	"Old_Turkic": 88, "Old_Uyghur": 194, "Oriya": 31, "Osage": 171, "Osmanya": 50, "Pahawh_Hmong": 75, "Palmyrene": 144,
	"Pau_Cin_Hau": 165, "Phags_Pa": 90, "Phoenician": 91, "Psalter_Pahlavi": 123, "Rejang": 110, "Runic": 32,
	"Samaritan": 126, "Saurashtra": 111, "Sharada": 151, "Shavian": 51, "Siddham": 166, "SignWriting": 112,
	"Sinhala": 33, "Sogdian": 183, "Sora_Sompeng": 152, "Soyombo": 176, "Sundanese": 113, "Syloti_Nagri": 58,
	"Syriac": 34, "Tagalog": 42, "Tagbanwa": 45, "Tai_Le": 52, "Tai_Tham": 106, "Tai_Viet": 127, "Takri": 153,
	"Tamil": 35, "Tangsa": 195, "Tangut": 154, "Telugu": 36, "Thaana": 37, "Thai": 38, "Tibetan": 39, "Tifinagh": 60,
	"Tirhuta": 158, "Toto": 196, "Ugaritic": 53, "Vai": 99, "Vithkuqi": 197, "Wancho": 188, "Warang_Citi": 146,
	"Yezidi": 192, "Yi": 41, "Zanabazar_Square": 177,
}

// unassigned is ICU's script of unassigned code points.
const unassigned = 103

// span is a range of characters of one script.
type span struct {
	lo, hi rune
	code   int32
}

// spans are the characters of all scripts in order.
var spans = sync.OnceValue(func() []span {
	var out []span
	for name, table := range unicode.Scripts {
		code, ok := scriptCodes[name]
		if !ok {
			code = unassigned
		}
		add := func(lo, hi, stride rune) {
			if stride == 1 {
				out = append(out, span{lo, hi, code})
				return
			}
			for r := lo; r <= hi; r += stride {
				out = append(out, span{r, r, code})
			}
		}
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].lo < out[j].lo })
	return out
})

// assigned are the characters of Unicode 13, the version that TensorFlow has.
var assigned = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("13.0.0") })

// scriptOf returns the number of a character's script, -1 outside of Unicode.
func scriptOf(r rune) int32 {
	if r < 0 || r > unicode.MaxRune {
		return -1
	}
	switch {
	case !unicode.Is(assigned(), r):
		return unassigned
	case r == 0x16fe2 || r == 0x16fe3:
		return scriptCodes["Common"] // Unicode 13 has Common, later versions Han
	}
	all := spans()
	i := sort.Search(len(all), func(i int) bool { return all[i].hi >= r })
	if i < len(all) && all[i].lo <= r {
		return all[i].code
	}
	return unassigned
}

// script returns the scripts of code points.
func script(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	if d := c.In(0).DType(); d != tensor.Int32 {
		return fmt.Errorf("the characters are %v, not int32", d)
	}
	out, err := c.Alloc(0, tensor.Int32, c.In(0).Shape())
	if err != nil {
		return err
	}
	v := tensor.Values[int32](out)
	for i, r := range tensor.Values[int32](c.In(0)) {
		v[i] = scriptOf(r)
	}
	return nil
}
